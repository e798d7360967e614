//! Computes values in several threads, and uses them in order in one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

/// Computes a value for each item and visits the values in item order, until `visit` fails. `make` receives visited values back, to reuse their
/// memory.
///
/// `jobs` threads compute values, each with a separate maker. The calling thread is one of them, and computes values while the next one to visit
/// is not ready. At most one value per job exists, plus one that waits, so memory use is low.
pub(crate) fn visit<I: Sync, M, T: Default + Send, E>(
    items: &[I],
    jobs: usize,
    maker: impl Fn() -> M + Sync,
    make: impl Fn(&I, &mut M, T) -> T + Sync,
    visit: impl FnMut(&I, &T) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = jobs.clamp(1, items.len().max(1));
    let queue = Queue::new(items.len(), if jobs > 1 { jobs + 1 } else { 1 });
    scope(|threads| {
        let work = || {
            let (_end, mut maker) = (EndOnPanic(&queue), maker());
            while let Some((index, spare)) = queue.claim() {
                queue.put(index, make(&items[index], &mut maker, spare));
            }
        };
        for _ in 1..jobs {
            // If a thread cannot be started, the others do its work.
            if Builder::new().spawn_scoped(threads, work).is_err() {
                break;
            }
        }
        let result = visit_all(items, &queue, &maker, &make, visit);
        queue.end();
        result
    })
}

/// Calls two functions, in parallel if `is_parallel`.
pub(crate) fn both<A: Send, B>(is_parallel: bool, first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    scope(|threads| {
        let other = if is_parallel { Builder::new().spawn_scoped(threads, &first).ok() } else { None };
        let second = second();
        let first = match other.map(|thread| thread.join()) {
            Some(Ok(done)) => done,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => first(),
        };
        (first, second)
    })
}

/// The loop of the calling thread.
fn visit_all<I, M, T: Default, E>(
    items: &[I],
    queue: &Queue<T>,
    maker: impl Fn() -> M,
    make: impl Fn(&I, &mut M, T) -> T,
    mut visit: impl FnMut(&I, &T) -> Result<(), E>,
) -> Result<(), E> {
    let _end = EndOnPanic(queue);
    let mut own = None;
    for (index, item) in items.iter().enumerate() {
        let thing = loop {
            match queue.next(index) {
                Next::Visit(thing) => break thing,
                Next::Make(other, spare) => {
                    queue.put(other, make(&items[other], own.get_or_insert_with(&maker), spare));
                }
                // Another thread panicked. The calling thread panics when the scope joins that thread.
                Next::End => return Ok(()),
            }
        };
        visit(item, &thing)?;
        queue.give_back(thing);
    }
    Ok(())
}

/// The items to process, and the values that wait to be visited.
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// The number of items, and the maximum number of values that exist at a time.
    items: usize,
    most: usize,
}

struct State<T> {
    /// The number of items that are started or done.
    claimed: usize,
    visited: usize,
    /// Values that are computed but not visited, in any order.
    made: Vec<(usize, T)>,
    spares: Vec<T>,
    is_over: bool,
}

/// The next step of the calling thread.
enum Next<T> {
    Visit(T),
    Make(usize, T),
    End,
}

impl<T: Default> Queue<T> {
    fn new(items: usize, most: usize) -> Self {
        let state = State { claimed: 0, visited: 0, made: Vec::new(), spares: Vec::new(), is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), items, most }
    }

    /// Returns the next item once there is space for its value; `None` if no items are left.
    fn claim(&self) -> Option<(usize, T)> {
        let mut state = self.lock();
        while !state.is_over && state.claimed < self.items {
            if let Some(claim) = self.claim_now(&mut state) {
                return Some(claim);
            }
            state = self.wait(state);
        }
        None
    }

    fn claim_now(&self, state: &mut State<T>) -> Option<(usize, T)> {
        let index = state.claimed;
        let is_free = index < self.items && index < state.visited + self.most;
        is_free.then(|| {
            state.claimed += 1;
            (index, state.spares.pop().unwrap_or_default())
        })
    }

    fn put(&self, index: usize, thing: T) {
        self.lock().made.push((index, thing));
        self.changed.notify_all();
    }

    /// Returns the next step towards visiting this item.
    fn next(&self, index: usize) -> Next<T> {
        let mut state = self.lock();
        loop {
            if let Some(place) = state.made.iter().position(|&(made, _)| made == index) {
                return Next::Visit(state.made.swap_remove(place).1);
            }
            if state.is_over {
                return Next::End;
            }
            if let Some((index, spare)) = self.claim_now(&mut state) {
                return Next::Make(index, spare);
            }
            state = self.wait(state);
        }
    }

    /// Takes back a visited value for reuse.
    fn give_back(&self, thing: T) {
        let mut state = self.lock();
        state.visited += 1;
        state.spares.push(thing);
        self.changed.notify_all();
    }
}

impl<T> Queue<T> {
    /// Makes all threads return after their current item.
    fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State<T>>) -> MutexGuard<'g, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the queue if a thread panics, so no other thread waits for it.
struct EndOnPanic<'q, T>(&'q Queue<T>);

impl<T> Drop for EndOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_order_is_that_of_the_items_and_few_wait() {
        for jobs in [0, 1, 2, 7] {
            let items: Vec<usize> = (0..200).collect();
            let (in_flight, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let make = |&item: &usize, makers: &mut usize, _: usize| {
                *makers += 1;
                most.fetch_max(in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                item * 2
            };
            let mut seen = Vec::new();
            let result: Result<(), ()> = visit(
                &items,
                jobs,
                || 0,
                make,
                |&item, &thing| {
                    assert_eq!(thing, item * 2);
                    seen.push(item);
                    in_flight.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                },
            );
            assert_eq!((result, &seen), (Ok(()), &items));
            let bound = if jobs > 1 { jobs + 1 } else { 1 };
            assert!(most.into_inner() <= bound, "one for each job and one that waits");
        }
    }

    #[test]
    fn both_are_done() {
        for is_parallel in [false, true] {
            assert_eq!(both(is_parallel, || 1, || 2), (1, 2));
            let fails = || both(is_parallel, || assert_eq!(is_parallel, !is_parallel, "on purpose"), || 2);
            assert!(std::panic::catch_unwind(fails).is_err());
        }
        let meet = std::sync::Barrier::new(2);
        both(true, || meet.wait(), || meet.wait());
    }

    #[test]
    fn all_jobs_work_at_once() {
        let both = std::sync::Barrier::new(2);
        let mut visits = 0;
        // Neither value is finished before the other one is started.
        let result: Result<(), ()> = visit(
            &[1, 2],
            2,
            || (),
            |&item, (), _| {
                both.wait();
                item
            },
            |item, thing| {
                assert_eq!(item, thing);
                visits += 1;
                Ok(())
            },
        );
        assert_eq!((result, visits), (Ok(()), 2));
    }

    #[test]
    fn a_panic_ends_it() {
        for fails_at in [0, 1, 9] {
            let made = |&item: &usize, (): &mut (), _: usize| {
                assert!(item != fails_at, "on purpose");
                item
            };
            let run = || visit(&Vec::from_iter(0..10), 3, || (), made, |_, _| Result::<(), ()>::Ok(()));
            assert!(std::panic::catch_unwind(run).is_err());
            let late = |&item: &usize, _: &usize| {
                assert!(item != fails_at, "on purpose");
                Result::<(), ()>::Ok(())
            };
            let run = || visit(&Vec::from_iter(0..10), 3, || (), |&item, (), _| item, late);
            assert!(std::panic::catch_unwind(run).is_err());
        }
    }

    #[test]
    fn a_failure_ends_it() {
        for jobs in [1, 2, 5] {
            for fails_at in [0, 1, 5, 9] {
                let mut visits = 0;
                let result = visit(
                    &[0; 10],
                    jobs,
                    || (),
                    |_, (), number: u32| number,
                    |_, _| {
                        visits += 1;
                        if visits > fails_at { Err(visits) } else { Ok(()) }
                    },
                );
                assert_eq!(result, Err(fails_at + 1));
            }
        }
    }
}
