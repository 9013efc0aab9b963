// Nothing of its own: the target that the tests' precompiled headers belong to needs a source.
