#!/usr/bin/env python3
"""The wire between the two hosts of benchmarks/hosts: it delays the packets between them.

    wire.py DELAY RATE     microseconds one way, MB/s in each direction; prints "ready" once both ends exist

It opens a TUN device in this network namespace and one in the namespace "two", and runs until it is killed.
"""
import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
NEARLY = 100e-6  # select returns this much too late: for the last part it polls


def end_of_wire(name, address, peer):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    for words in (f"addr add {address} peer {peer} dev {name}", f"link set {name} mtu 9000 up", "link set lo up"):
        subprocess.run(["ip", *words.split()], check=True)
    return device


def main():
    delay, rate = float(sys.argv[1]) * 1e-6, float(sys.argv[2]) * 1e6
    one = end_of_wire("to_two", "10.9.0.1", "10.9.0.2")
    if ctypes.CDLL(None, use_errno=True).setns(os.open("/run/netns/two", os.O_RDONLY), CLONE_NEWNET) != 0:
        sys.exit(f"wire.py: the other host: {os.strerror(ctypes.get_errno())}")
    two = end_of_wire("to_one", "10.9.0.2", "10.9.0.1")
    print("ready", flush=True)
    other, free = {one: two, two: one}, {one: 0.0, two: 0.0}
    under_way = []  # (arrival, number, destination, packet)
    number = 0
    while True:
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, there, packet = heapq.heappop(under_way)
            try:
                os.write(there, packet)
            except BlockingIOError:
                pass  # lost, as packets are; TCP sends it again
        wait = max(0.0, under_way[0][0] - time.monotonic() - NEARLY) if under_way else 1.0
        for here in select.select([one, two], [], [], wait)[0]:
            try:
                while True:
                    packet = os.read(here, 65536)
                    free[here] = max(free[here], time.monotonic()) + len(packet) / rate
                    number += 1
                    heapq.heappush(under_way, (free[here] + delay, number, other[here], packet))
            except BlockingIOError:
                pass


if __name__ == "__main__":
    main()
