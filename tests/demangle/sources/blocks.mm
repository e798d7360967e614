__attribute__((objc_root_class)) @interface Foo @end
@protocol P1 @end @protocol P2 @end
#define USE __attribute__((used,noinline))
USE void ob(id, id<P1>, id<P1,P2>, Foo*, Foo<P1>*, Class, SEL, Class<P1>) {}
USE void strong(__strong id*, __weak id*, __autoreleasing id*) {}
USE void blk(void (^b)(int), int (^(^c)(char))(void)) {}
template<class T> USE T tb(T t) { static int k; ^{ static int z; ^{ static int y; y++; }(); z++; }(); return t; }
struct S { void m() { ^(int a){ static S s; auto l = [](int x){ return ^{ static int w; return ++w; }(); }; l(a); }(3); } S() { ^{ static int q; q++; }(); } ~S() { ^{ static int q; q++; }(); } };
void use() { tb(1); tb(^{}); S().m(); ^{ ^{ ^{ tb('c'); }(); }(); }(); auto l = []{ ^{ tb(1.f); }(); }; l(); }
int (^gb)(int) = ^(int x){ static int e; return e + x; };
namespace { void an() { ^{ static int t; t++; }(); } struct AS { int x = ^{ return 3; }(); }; } void uan() { an(); AS a; }
