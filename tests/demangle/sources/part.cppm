export module foo.bar:part; export struct PS { int f(); }; int PS::f() { return 1; } struct Q {}; export inline void pf(PS, Q) {} 
