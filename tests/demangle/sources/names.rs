//! A program whose functions have names of every kind that Rust mangles.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};
use std::hint::black_box;

pub mod press {
    pub struct Crate<T, const ROOM: usize> {
        pub fruit: [T; ROOM],
    }

    impl<T: Copy, const ROOM: usize> Crate<T, ROOM> {
        #[inline(never)]
        pub fn first(&self) -> T {
            self.fruit[0]
        }

        #[inline(never)]
        pub fn each<R>(&self, mut visit: impl FnMut(T) -> R) -> R {
            visit(self.fruit[ROOM - 1])
        }
    }

    pub trait Weigh {
        fn weigh(&self) -> u64;
    }

    impl<T: Weigh + ?Sized> Weigh for &T {
        #[inline(never)]
        fn weigh(&self) -> u64 {
            (**self).weigh()
        }
    }

    impl Weigh for [u8] {
        #[inline(never)]
        fn weigh(&self) -> u64 {
            self.iter().map(|&grams| u64::from(grams)).sum()
        }
    }

    impl Weigh for (i32, char) {
        #[inline(never)]
        fn weigh(&self) -> u64 {
            self.1 as u64
        }
    }

    impl Weigh for fn(&str) -> usize {
        #[inline(never)]
        fn weigh(&self) -> u64 {
            self("pip") as u64
        }
    }
}

use press::{Crate, Weigh};

struct Größe<'a>(&'a str);

impl Display for Größe<'_> {
    #[inline(never)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Drop for Größe<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(self.0);
    }
}

#[inline(never)]
fn sort<K: Ord + Debug, V: ?Sized + Debug>(of: &V, keys: Vec<K>) -> BTreeMap<K, String> {
    let closure = |key: K| {
        let inner = || format!("{of:?}");
        (key, black_box(inner)())
    };
    keys.into_iter().map(black_box(closure)).collect()
}

#[inline(never)]
fn flagged<const LARGE: bool, const MARK: char, const LEAST: i8>() -> usize {
    usize::from(LARGE) + MARK as usize + LEAST as usize
}

#[inline(never)]
fn pointers(one: *const u8, two: *mut [i16], never: fn() -> !, object: &dyn Fn(&str) -> Box<dyn Weigh + Send>) -> usize {
    black_box((one, two, never));
    object("x").weigh() as usize
}

fn main() {
    let full = Crate { fruit: [3_u8, 4] };
    black_box(full.first());
    full.each(|grams| grams + 1);
    Crate { fruit: [("a", 1.5_f32); 7] }.each(|(name, _)| name.len());
    black_box((&&[1_u8, 2][..]).weigh() + (5, 'x').weigh() + (str::len as fn(&str) -> usize).weigh());
    let objects: [&dyn Weigh; 1] = [&(5, 'x')];
    black_box(objects[0].weigh());
    black_box(Größe("größe").to_string());
    black_box(sort("tree", vec![(1_u16, [2_i64; 3]), (0, [1; 3])]));
    black_box(sort(&[Some(true)][..], vec!["b".to_owned()]));
    black_box(flagged::<true, 'ß', -5>() + flagged::<false, '\n', 7>());
    let make = |_: &str| -> Box<dyn Weigh + Send> { Box::new((1, 'y')) };
    black_box(pointers(&1, &mut [1_i16, 2][..], || panic!("empty"), &make));
    let worker = std::thread::spawn(move || black_box((1, 'z').weigh()));
    black_box(worker.join().ok());
    async fn later() -> u8 {
        black_box(1)
    }
    black_box(std::mem::size_of_val(&later()));
}
