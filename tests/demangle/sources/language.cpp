#include <string>
#include <vector>
#include <map>
#include <functional>
#include <memory>
#include <iostream>
#include <coroutine>
#include <variant>
#include <tuple>
#include <algorithm>
#include <concepts>
#include <cstddef>
namespace ns { inline namespace v1 { struct [[gnu::abi_tag("t1","t2")]] Tag { Tag(); ~Tag(); int f(); }; Tag::Tag(){} Tag::~Tag(){} int Tag::f(){return 1;} } }
template<class... T> struct Pack {};
template<class T, class U> struct Pair { T t; U u; template<class V> Pair(V v) {} operator T*() {return 0;} template<class W> operator W() {return W();} };
#define USE __attribute__((used, noinline))
template<class... T> USE auto sum(T... t) -> decltype((t + ...)) { return (t + ...); }
template<class... T> USE auto sum2(T... t) -> decltype((0 + ... + t)) { return (0 + ... + t); }
template<class... T> USE auto all(T... t) -> decltype((t && ... && true)) { return (t && ...); }
template<class... T> USE void packs(Pack<T*...>, T&&... t, int (*...f)(T), T (&...a)[3]) {}
template<auto V> struct Val {};
template<auto... V> USE void vals(Val<V>...) {}
struct NT { int a; double b; const char* c; int d[2]; union { int x; float y;}; constexpr bool operator==(const NT&) const = default; };
struct NT2 { int a; double b; int d[2]; };
template<NT2 n> USE int ntf() { return n.a; }
template<double d> USE void dbl() {}
template<float d> USE void flt() {}
template<long double d> USE void ldbl() {}
enum E { e1, e2 }; enum class EC : unsigned char { c1, c2 };
template<E e> USE void en() {}
template<EC e> USE void enc() {}
template<int*p> USE void ptr() {}
template<int NT2::*p> USE void mptr() {}
template<int (*f)(int)> USE void fptr() {}
template<std::nullptr_t n> USE void nul() {}
template<const char (&r)[4]> USE void sref() {}
int gi; int garr[5]; static NT2 gn; int gf(int x){return x;} const char gs4[4]="abc"; 
template<template<class...> class TT, class... A> USE void ttp(TT<A...>) {}

template<class T> USE decltype(std::declval<T>().begin()) f1(T t) { return t.begin(); }
template<class T> USE decltype(T::value + 1) f2(T) { return 1; }
template<class T> USE auto f3(T t) -> decltype(t.template foo<int>(1)) { return t.template foo<int>(1); }
template<class T> USE auto f4(T t) -> decltype(T::template bar<T>(t)) { return 0; }

template<class T> USE typename std::enable_if<(sizeof(T) > 2), T>::type f6(T t) { return t; }
template<class T> USE typename std::enable_if<!(sizeof(T) >> 4) && T() <= 4, T>::type f7(T t) { return t; }
template<class T, int N> USE void f8(T (&a)[N], char (&b)[N + 1]) {}
template<class T> USE auto f9(T t) -> decltype(static_cast<long>(t) ? reinterpret_cast<char*>(t) : const_cast<char*>((char*)t)) { return 0; }
template<class T> USE auto f10(T t) -> decltype(typeid(t), typeid(T), throw 1, 1) { return 1; }

template<class T> USE auto f12(T t) -> decltype(T{1,2}) { return T{1,2};}
template<class T> USE auto f13(T t, int T::*m) -> decltype(t.*m) { return t.*m; }
template<class T> USE auto f14(T t) -> decltype(::gf(t), ns::v1::Tag().f()) { return 1; }
struct S2 { int x, y; template<class T> int foo(int) {return 1;} template<class T> static int bar(T) {return 1;} static const int value = 3; int begin() {return 1;} };
template<class T> concept C1 = sizeof(T) > 1; 
template<class T, class U> concept C2 = requires(T t, U u) { t + u; { t + u } -> std::convertible_to<int>; typename T::type; requires true; { t } noexcept; };
template<C1 T> USE void c1(T) {}
template<class T> requires C1<T> && (sizeof(T) < 100) USE void c2(T) {}
template<class T> USE void c3(T) requires C1<T> || requires(T t) { t.x; { t.y } noexcept -> C1; typename T::foo; } {}
USE void c4(C1 auto x, C1 auto... y) {}
template<class T> struct M { void f() requires C1<T> {} template<C1 U> void g(U) requires C1<T> {} friend USE void ff(M) requires C1<T> {} template<class U> friend USE void fg(M, U) requires (sizeof(T) > sizeof(U)) {} };
template struct M<int>;
template<template<C1> class T> USE void c5() {}
template<C1 T> struct CC {};
struct Base { virtual ~Base(); Base(int); virtual Base* clone(); virtual void f() const &; virtual void g() volatile &&; }; struct Base2 { virtual ~Base2(); virtual void h(); virtual Base2* c2(); };
Base::~Base(){} Base* Base::clone(){return 0;} Base::Base(int){} void Base::f() const & {} void Base::g() volatile && {} Base2::~Base2(){} void Base2::h(){} Base2* Base2::c2(){return 0;}
struct D1 : virtual Base, Base2 { D1* clone() override; D1* c2() override; void h() override; using Base::Base; D1(); }; D1::D1():Base(1){} D1* D1::clone(){return 0;} void D1::h(){} D1* D1::c2(){return 0;}
struct D2 : Base { using Base::Base; }; 
struct D3 : D1 {D3(); D3* clone() override; }; D3::D3():Base(1){} D3*D3::clone(){return 0;}
void useD() { static D2 d(1); static thread_local D2 dd(2); }
thread_local std::string tls = "x"; inline thread_local int itl = gf(1); int& uitl() { return itl; }
auto lam0 = [](auto x, int y) { return x; };
auto lam1 = []<class T, int N, template<class> class TT, class... P>(T t, TT<T>, P...) requires C1<T> { return 1; };
template<class T> struct Box{};
void lams() { lam0(1,2); lam1.operator()<int, 3, Box, char, float>(1, Box<int>(), 'a', 1.f); auto l = [&](int a) mutable { auto k=[](double){ static int z = gf(2); return z; }; return k(1.); }; l(1); struct L { int f() { return [this]{ return 1; }(); } }; L().f(); [](auto... x){ return sizeof...(x); }(1, 2.0, "s"); }
struct DM { int a = []{ return gf(4); }(); std::function<int(int)> f = [](int q){ return q; }; }; DM dm;
inline auto vlam = [](int x) { return x; }; int usev = vlam(2);
template<class T> T vt = []{ return T(); }(); int uvt = vt<int>;
USE void defarg(int x = []{ return gf(9); }(), int y = 3) {} void udef() { defarg(); }
struct DA { void m(int a = []{return 3;}()) {} }; void uda() { DA().m(); }
namespace { struct An { void f() {} template<class T> void g(T) {} }; int anv; void anf() {} } void uan() { An().f(); An().g(An()); anf(); }
auto [sb1, sb2] = NT2{1, 2.0, {1,2}}.d; 
struct Task { struct promise_type { Task get_return_object(){return {};} std::suspend_never initial_suspend(){return {};} std::suspend_never final_suspend() noexcept {return {};} void return_void(){} void unhandled_exception(){} }; };
Task coro(int x) { co_await std::suspend_always{}; } struct Aw { Aw operator co_await(); }; Aw Aw::operator co_await() { return {}; }
int operator""_lit(unsigned long long); int operator""_lit(unsigned long long){return 1;} template<char... c> USE int operator""_ct() {return 1;} int uct = 123_ct;
typedef int v4 __attribute__((vector_size(16))); typedef float v8 __attribute__((ext_vector_type(3))); USE void vec(v4, v8) {}
USE void i128(__int128, unsigned __int128, _Complex double , decltype(nullptr), char8_t, char16_t, char32_t, wchar_t, long double) {}
#ifdef __clang__
USE void bi(_BitInt(7), unsigned _BitInt(129)) {} template<int N> USE void bint(_BitInt(N) x) {} template void bint<12>(_BitInt(12));
USE void asp(__attribute__((address_space(3))) int*) {}
#endif
USE void fns(void (*)() noexcept, int (*)(int,...), void (S2::*)() const & noexcept, int S2::*, int (S2::*)[3], int (&)[2][3], int (&&)[], void (&)(), int (*(*)(int))[3], const volatile int* __restrict) {}
template<bool B> USE void fne(void (*)() noexcept(B)) {} template void fne<true>(void(*)() noexcept);
template<class T> USE void fne2(void (*)() noexcept(sizeof(T) > 1)) {} template void fne2<int>(void(*)() noexcept);
struct Ops { void* operator new(size_t); void operator delete(void*); void* operator new[](size_t); void operator delete[](void*); Ops* operator->(); Ops& operator*(); int operator()(int); int operator[](int); bool operator!(); Ops operator~(); Ops operator++(); Ops operator++(int); Ops operator,(Ops); Ops operator->*(int); bool operator&&(Ops); bool operator||(Ops); std::strong_ordering operator<=>(const Ops&) const; Ops operator<<=(int); Ops operator>>(int); operator bool() const; operator int S2::*(); operator std::string(); template<class T> operator T*() const; template<class T> operator Pair<T, int>&(); Ops operator-(); Ops operator%=(int); };
void* Ops::operator new(size_t){return 0;} void Ops::operator delete(void*){} void* Ops::operator new[](size_t){return 0;} void Ops::operator delete[](void*){} Ops* Ops::operator->(){return 0;} Ops& Ops::operator*(){return *this;} int Ops::operator()(int){return 0;} int Ops::operator[](int){return 0;} bool Ops::operator!(){return 0;} Ops Ops::operator~(){return *this;} Ops Ops::operator++(){return *this;} Ops Ops::operator++(int){return *this;} Ops Ops::operator,(Ops){return *this;} Ops Ops::operator->*(int){return *this;} bool Ops::operator&&(Ops){return 0;} bool Ops::operator||(Ops){return 0;} std::strong_ordering Ops::operator<=>(const Ops&) const{return std::strong_ordering::less;} Ops Ops::operator<<=(int){return *this;} Ops Ops::operator>>(int){return *this;} Ops::operator bool() const{return 0;} Ops::operator int S2::*(){return 0;} Ops::operator std::string(){return "";} template<class T> Ops::operator T*() const{return 0;} template<class T> Ops::operator Pair<T,int>&(){static Pair<T,int> p(1); return p;} Ops Ops::operator-(){return *this;} Ops Ops::operator%=(int){return *this;}
template Ops::operator int*() const; template Ops::operator Pair<char,int>&();
USE void ei(int x) __attribute__((weak)); void ei(int x) {}
#ifdef __clang__
USE void eni(int x) __attribute__((enable_if(x > 3 && x < 10, ""))) {}
USE void eni2(int* const x __attribute__((pass_object_size(1)))) {}
#endif
void inst() { sum(1,2.0); sum2(1,2); all(true,false); packs<int,char>({}, 1, 'a', 0, 0, *(int(*)[3])garr, *(char(*)[3])garr); vals<1, 'c', true, 5ul, 3u, nullptr, 2ll, EC::c2>({}, {}, {}, {}, {}, {}, {}, {}); ntf<NT2{1,2.5,{3,4}}>(); ntf<NT2{}>(); dbl<1.5>(); dbl<-0.0>(); flt<2.5f>(); ldbl<1.0L>(); en<e2>(); enc<EC::c1>(); ptr<&gi>(); ptr<&garr[1]>(); ptr<nullptr>(); mptr<&NT2::a>(); mptr<nullptr>(); fptr<gf>(); nul<nullptr>(); sref<gs4>(); ttp(std::vector<int>()); ttp(Pack<int,char>());
 f1(S2()); f2(S2()); f3(S2()); f4(S2()); f6(1); f7(1ull); int a[3]; char b[4]; f8(a,b); f9(1l); f10(1); f12(S2()); f13(S2(), &S2::x); f14(1); c1(1); c2(1); c3(S2()); c4(1, 2l, 3); M<int> m; m.f(); m.g(1l); ff(m); fg(m, 'c'); c5<CC>(); Pair<int,char> p(1.0); (int*)p; (long)p; std::map<std::string, std::vector<std::function<void(int)>>> mm; mm["a"].push_back([](int){}); std::variant<int, std::string> v = 1; std::visit([](auto&& x){}, v); std::tuple<int,char> t; std::apply([](int, char){}, t); std::sort((int*)0, (int*)0, [](int x, int y){ return x > y; }); auto up = std::make_unique<S2>(); auto sp = std::make_shared<DM>(); const std::string& rt = std::string("x"); }
extern const std::string& grt; const std::string& grt = std::string("z"); int&& rvr = 5;
struct EO { 
#if __cplusplus > 202002L && defined(__clang__)
 void f(this EO&&, int) {} template<class S> int g(this S&& s, int) {return 1;} void operator()(this const EO&) {}
#endif
};
#if __cplusplus > 202002L && defined(__clang__)
void ueo() { EO().f(1); EO e; e.g(1); const EO c; c.g(2); e(); static int operator_; struct SO { static int operator()(int) {return 1;} static int operator[](int a, int b) {return a;} }; SO::operator()(1); SO()[1,2]; [](this auto self, int x) { return x; }(1); }
#endif
template<class T> struct Outer { template<class U> struct Inner { template<class V> USE static void f(T, U, V, Outer<V>, Inner<V>) {} struct Deep { template<class W> USE static auto g(W w) -> typename Inner<W>::Deep* { return 0; } }; }; };
void uo() { Outer<int>::Inner<char>::f<float>(1, 'c', 1.f, {}, {}); Outer<int>::Inner<char>::Deep::g(1.0); }
template<class T, class = void> struct Has : std::false_type {}; template<class T> struct Has<T, std::void_t<decltype(std::declval<T>().x)>> : std::true_type {};
template<class T, std::enable_if_t<Has<T>::value, int> = 0> USE void sf(T) {} void usf() { sf(S2()); }
template<class... Ts> struct Over : Ts... { using Ts::operator()...; }; template<class... Ts> Over(Ts...) -> Over<Ts...>; void uov() { Over o{[](int){}, [](char){}}; o(1); o('c'); }
template<int... I> USE void iseq(std::integer_sequence<int, I...>, Val<(I * 2 + 1)>...) {} void uis() { iseq(std::make_integer_sequence<int, 3>(), Val<1>(), Val<3>(), Val<5>()); }
template<class T> USE auto deep(T t) { return [t](auto u) { return [=](auto v) { struct Loc { int f(T, decltype(u)) { return 1; } }; return Loc().f(t, u); }; }; } void udeep() { deep(1)('c')(2.0); }
struct { int f() { return 1; } } unn; int uunn = unn.f(); typedef struct { void g() {} } Td; void utd() { Td().g(); enum { q1, q2 }; sum(1); Pack<decltype(unn)> pk; ttp(pk); auto z = q1; Val<q2> vv; vals(vv); }
union Un { Un() {} ~Un() {} std::string s; }; Un un;
extern "C" { void cfun(int (*f)(void)) { } } template<class T> USE void takesC(T) {} void utc() { takesC(cfun); takesC(&Base::clone); takesC(&S2::x); }
template<class T> USE void decayref(T&&, const T&, T*&, T* const&, const T*&&) {} void udr() { int i; int* p; } 
