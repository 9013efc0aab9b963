// A cylindrical cavity of radius 1 and height 1 with conducting walls. Its straight-sided mesh, cylinder.msh beside this file, was made by Gmsh 4.15:
//
//     gmsh -3 -format msh41 -o cylinder.msh cylinder.geo
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 0, 0, 1, 1};
Mesh.MeshSizeMin = 0.45;
Mesh.MeshSizeMax = 0.45;
Physical Volume("vacuum") = {1};
Physical Surface("conductor") = {1, 2, 3};
