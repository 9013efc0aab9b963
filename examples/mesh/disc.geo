// A disc of radius 1 with a conducting rim. Its straight-sided mesh, disc.msh beside this file, was made by Gmsh 4.15:
//
//     gmsh -2 -format msh41 -o disc.msh disc.geo
SetFactory("OpenCASCADE");
Disk(1) = {0, 0, 0, 1};
Mesh.MeshSizeMin = 0.35;
Mesh.MeshSizeMax = 0.35;
Physical Surface("vacuum") = {1};
Physical Curve("conductor") = {1};
