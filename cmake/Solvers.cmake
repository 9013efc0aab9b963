# hone::solvers: what simulations are made of, in solvers/. A library beside hone::hone and not a part of it: it draws pictures by libpng.
hone_library(solvers PUBLIC hone_session hone_kernel_folder hone_tuner PRIVATE PNG::PNG)
