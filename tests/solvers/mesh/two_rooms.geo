// Two boxes side by side, of two materials, periodic along x, with an absorbing lid. Made into the seeds of tests/fuzz/seeds/gmsh by
//
//     for format in 22 41; do
//         gmsh -3 -format msh$format -o text_$format.msh two_rooms.geo
//         gmsh -3 -format msh$format -bin -o binary_$format.msh two_rooms.geo
//     done
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 0.5, 1};
Box(2) = {0, 0.5, 0, 1, 0.5, 1};
Coherence;
Mesh.MeshSizeMin = 0.8;
Mesh.MeshSizeMax = 0.8;
e = 1e-3;
left() = Surface In BoundingBox {-e, -e, -e, e, 1 + e, 1 + e};
right() = Surface In BoundingBox {1 - e, -e, -e, 1 + e, 1 + e, 1 + e};
top() = Surface In BoundingBox {-e, -e, 1 - e, 1 + e, 1 + e, 1 + e};
bottom() = Surface In BoundingBox {-e, -e, -e, 1 + e, 1 + e, e};
front() = Surface In BoundingBox {-e, -e, -e, 1 + e, e, 1 + e};
back() = Surface In BoundingBox {-e, 1 - e, -e, 1 + e, 1 + e, 1 + e};
For i In {0 : #left() - 1}
    For j In {0 : #right() - 1}
        a() = Boundary { Surface{left(i)}; };
        one() = BoundingBox Surface{left(i)};
        two() = BoundingBox Surface{right(j)};
        If (Abs(one(1) - two(1)) < e)
            Periodic Surface{right(j)} = {left(i)} Translate{1, 0, 0};
        EndIf
    EndFor
EndFor
Physical Volume("vacuum") = {1};
Physical Volume("glass") = {2};
Physical Surface("periodic") = {left(), right()};
Physical Surface("absorbing") = {top()};
Physical Surface("conductor") = {bottom(), front(), back()};
