//! Making the next thing while one is in use.

use std::sync::mpsc::{channel, sync_channel};
use std::thread::{Builder, scope};

/// Makes something of each item and visits it, in the order of the items, until `visit` fails. What was visited comes back
/// to `make`, which may use its memory again.
///
/// From two `jobs` on, another thread makes them. It is one ahead of the visit, so that memory stays small.
pub(super) fn visit<I: Sync, M, T: Default + Send, E>(
    items: &[I],
    jobs: usize,
    maker: impl Fn() -> M + Sync,
    make: impl Fn(&I, &mut M, T) -> T + Sync,
    mut visit: impl FnMut(&I, &T) -> Result<(), E>,
) -> Result<(), E> {
    let (made_sender, made) = sync_channel(0);
    let (spare_sender, spares) = channel();
    scope(|threads| {
        let work = || {
            // Everything is moved here, so that the other side notices when this one ends, however it does.
            let (made_sender, spares) = (made_sender, spares);
            let mut maker = maker();
            for item in items {
                let thing = make(item, &mut maker, spares.try_recv().unwrap_or_default());
                if made_sender.send(thing).is_err() {
                    return;
                }
            }
        };
        let is_alone = jobs < 2 || items.len() < 2 || Builder::new().spawn_scoped(threads, work).is_err();
        if is_alone {
            let mut maker = maker();
            let mut thing = T::default();
            for item in items {
                thing = make(item, &mut maker, thing);
                visit(item, &thing)?;
            }
            return Ok(());
        }
        // Owned by this closure: where `visit` fails, the other thread must find that nobody takes what it makes.
        let made = made;
        for item in items {
            let Ok(thing) = made.recv() else { break };
            visit(item, &thing)?;
            // Nobody needs it once the last one was made.
            let _ = spare_sender.send(thing);
        }
        Ok(())
    })
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
            assert!(most.into_inner() <= 2, "one in use, one ahead");
        }
    }

    #[test]
    fn a_failure_ends_it() {
        for jobs in [1, 2] {
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
