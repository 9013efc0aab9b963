import sys


class ProgressLine:
    """A line on standard error that is written over and over."""

    def __init__(self, seconds: float, evaluations: int) -> None:
        self.seconds, self.evaluations = seconds, evaluations

    def __call__(self, progress: dict) -> bool:
        if self.evaluations:
            part = progress["evaluations"] / self.evaluations
        else:
            part = progress["elapsed"] / (self.seconds or 60)
        done = round(20 * min(part, 1))
        best = f", best {1e3 * progress['best_seconds']:.3g} ms" if progress["best"] else ""
        what = "finals" if progress["finals"] else f"{progress['evaluations']} candidates"
        print(f"\r[{'#' * done}{'.' * (20 - done)}] {what}{best}   ", end="", file=sys.stderr, flush=True)
        return False

    def end(self) -> None:
        print(file=sys.stderr)
