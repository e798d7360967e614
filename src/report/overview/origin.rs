//! What triggers app code: a timer, an event, a queue, the start of a thread. Frameworks call apps through few functions, most of which can be
//! recognised by name in a backtrace.

use crate::profile::{FunctionId, Profile};

/// What triggered app code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// A block or function on the main dispatch queue.
    MainQueue,
    /// A block or function on another dispatch queue.
    Queue,
    /// A Swift concurrency task.
    SwiftTask,
    /// A timer.
    Timer,
    /// A display link, which fires once per frame of the screen.
    DisplayLink,
    /// A touch, a key press, the mouse, or a control's action.
    Input,
    /// Layout and drawing before a Core Animation commit.
    Layout,
    /// A notification.
    Notification,
    /// A source, observer or block of the run loop.
    RunLoop,
    /// The launch of the app.
    Launch,
    /// A static initializer, before `main`.
    Initializer,
    /// The start of a thread.
    Thread,
}

impl Origin {
    /// The name in machine-readable formats: `timer`, `main-queue`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MainQueue => "main-queue",
            Self::Queue => "queue",
            Self::SwiftTask => "swift-task",
            Self::Timer => "timer",
            Self::DisplayLink => "display-link",
            Self::Input => "input",
            Self::Layout => "layout",
            Self::Notification => "notification",
            Self::RunLoop => "run-loop",
            Self::Launch => "launch",
            Self::Initializer => "initializer",
            Self::Thread => "thread",
        }
    }

    /// Returns the trigger that a system function shows, if any.
    pub(super) fn of_function(name: &str) -> Option<Self> {
        // Names may include parameters: `CA::Transaction::commit()`.
        let bare = name.split_once('(').map_or(name, |(bare, _)| if bare.is_empty() { name } else { bare });
        let known = |names: &[&str]| names.contains(&bare) || names.contains(&name);
        ORIGINS.iter().find(|(_, names)| known(names)).map(|&(origin, _)| origin)
    }
}

/// Functions of Apple's frameworks that call app code, by trigger.
const ORIGINS: [(Origin, &[&str]); 12] = [
    (Origin::MainQueue, &["__CFRUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE__", "_dispatch_main_queue_callback_4CF"]),
    (
        Origin::Queue,
        &[
            "_dispatch_worker_thread",
            "_dispatch_worker_thread2",
            "_dispatch_root_queue_drain",
            "_dispatch_lane_invoke",
            "_dispatch_workloop_worker_thread",
            "_dispatch_apply_invoke",
            "_dispatch_lane_serial_drain",
            "_dispatch_kevent_worker_thread",
            "__NSOPERATION_IS_INVOKING_MAIN__",
        ],
    ),
    (
        Origin::SwiftTask,
        &["swift::runJobInEstablishedExecutorContext", "swift_job_run", "swift_job_runImpl", "completeTaskWithClosure"],
    ),
    (Origin::Timer, &["__CFRUNLOOP_IS_CALLING_OUT_TO_A_TIMER_CALLBACK_FUNCTION__", "__NSFireTimer"]),
    (
        Origin::DisplayLink,
        &[
            "CA::Display::DisplayLink::dispatch_items",
            "CA::Display::DisplayLinkItem::dispatch",
            "CA::Display::DisplayLinkItem::dispatch_",
            "CA::Display::DisplayTimerLink::callback",
        ],
    ),
    (
        Origin::Input,
        &[
            "-[UIApplication sendEvent:]",
            "-[UIApplication sendAction:to:from:forEvent:]",
            "-[UIWindow sendEvent:]",
            "-[NSApplication sendEvent:]",
            "-[NSApplication(NSEventRouting) sendEvent:]",
            "-[NSApplication(NSResponder) sendAction:to:from:]",
            "-[NSApplication sendAction:to:from:]",
            "-[NSWindow sendEvent:]",
            "-[NSWindow(NSEventRouting) sendEvent:]",
            "-[UIGestureRecognizerTarget _sendActionWithGestureRecognizer:]",
            "__handleEventQueue",
        ],
    ),
    (
        Origin::Layout,
        &[
            "CA::Transaction::commit",
            "CA::Transaction::flush_as_runloop_observer",
            "CA::Context::commit_transaction",
            "CA::Layer::layout_if_needed",
            "CA::Layer::display_if_needed",
            "_UIApplicationFlushCATransaction",
        ],
    ),
    (
        Origin::Notification,
        &[
            "__CFNOTIFICATIONCENTER_IS_CALLING_OUT_TO_AN_OBSERVER__",
            "-[NSNotificationCenter postNotificationName:object:userInfo:]",
        ],
    ),
    (
        Origin::RunLoop,
        &[
            "__CFRUNLOOP_IS_CALLING_OUT_TO_A_BLOCK__",
            "__CFRUNLOOP_IS_CALLING_OUT_TO_A_SOURCE0_PERFORM_FUNCTION__",
            "__CFRUNLOOP_IS_CALLING_OUT_TO_A_SOURCE1_PERFORM_FUNCTION__",
            "__CFRUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER_CALLBACK_FUNCTION__",
        ],
    ),
    (
        Origin::Launch,
        &[
            "-[UIApplication _handleDelegateCallbacksWithOptions:isSuspended:restoreState:]",
            "-[UIApplication _callInitializationDelegatesWithActions:forCanvas:payload:fromOriginatingProcess:]",
            "-[NSApplication finishLaunching]",
            "-[NSApplication _sendFinishLaunchingNotification]",
        ],
    ),
    (
        Origin::Initializer,
        &[
            "dyld4::APIs::runAllInitializersForMain",
            "dyld4::Loader::runInitializersBottomUpPlusUpwardLinks",
            "ImageLoaderMachO::doInitialization",
            "invocation function for block in dyld4::Loader::findAndRunAllInitializers",
            "load_images",
        ],
    ),
    (Origin::Thread, &["_pthread_start", "__NSThread__start__", "_pthread_body", "thread_start"]),
];

/// Functions that run a run loop, or the entire program as a sequence of events. Their callers did not request the system's work below them,
/// unless app code in between did.
const RUN_LOOPS: [&str; 21] = [
    "-[NSApplication run]",
    "-[NSRunLoop run]",
    "-[NSRunLoop runMode:beforeDate:]",
    "-[NSRunLoop runUntilDate:]",
    "-[NSRunLoop(NSRunLoop) run]",
    "-[NSRunLoop(NSRunLoop) runMode:beforeDate:]",
    "-[NSRunLoop(NSRunLoop) runUntilDate:]",
    "CFRunLoopRun",
    "CFRunLoopRunInMode",
    "CFRunLoopRunSpecific",
    "GSEventRun",
    "GSEventRunModal",
    "NSApplicationMain",
    "NSExtensionMain",
    "UIApplicationMain",
    "WKExtensionMain",
    "_CFRunLoopRunSpecificWithOptions",
    "__CFRunLoopRun",
    "_dispatch_sig_thread",
    "dispatch_main",
    "xpc_main",
];

/// True if a system function runs a run loop, including SwiftUI's `static App.main()`.
pub(crate) fn is_run_loop(name: &str) -> bool {
    RUN_LOOPS.contains(&name) || ["static App.main()", "SwiftUI.runApp", "runApp<A>(_:)"].contains(&name)
}

/// True for a program's entry point: `main`, a wrapper that a compiler generates, or Swift's `static Orchard.main()` for `@main`.
pub(crate) fn is_entry_point(name: &str) -> bool {
    name == "main"
        || name == "_main"
        || name == "main_0"
        || name.strip_prefix("static ").is_some_and(|name| name.ends_with(".main()") || name.ends_with(".$main()"))
}

/// Frameworks in which the main thread of an app waits for events and handles them.
const EVENT_LOOPS: [&str; 6] = ["AppKit", "SwiftUI", "SwiftUICore", "UIKit", "UIKitCore", "WatchKit"];

/// True for unnamed code that can only be the start of an app's run loop: a framework function called by `main`. An unnamed `main` is recognised
/// as the function called by dyld's first function. `callers` starts with the direct caller.
pub(in crate::report) fn is_nameless_run_loop(
    profile: &Profile,
    id: FunctionId,
    is_own: impl Fn(FunctionId) -> bool,
    callers: impl Iterator<Item = FunctionId>,
) -> bool {
    let is_named = |id: FunctionId| profile.function(id).is_named;
    let is_of_framework = profile.binary_name(id).is_some_and(|binary| EVENT_LOOPS.contains(&binary));
    if is_named(id) || !is_of_framework {
        return false;
    }
    let mut callers = callers.skip_while(|&caller| is_own(caller) && !is_named(caller));
    let is_dyld = callers.next().is_some_and(|id| matches!(profile.binary_name(id), Some("dyld" | "libdyld.dylib")));
    is_dyld && callers.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        assert!(is_run_loop("UIApplicationMain") && is_run_loop("xpc_main") && !is_run_loop("main"));
        let mut names: Vec<&str> = ORIGINS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "each stands once");
    }

    #[test]
    fn callers_are_known_with_and_without_parameters() {
        assert_eq!(Origin::of_function("CA::Transaction::commit()"), Some(Origin::Layout));
        assert_eq!(Origin::of_function("__NSFireTimer"), Some(Origin::Timer));
        assert_eq!(Origin::of_function("-[UIWindow sendEvent:]"), Some(Origin::Input));
        assert_eq!(Origin::of_function("memmove"), None);
        assert_eq!(Origin::of_function("(anonymous namespace)::f"), None);
    }

    #[test]
    fn programs_start_in_few_functions() {
        for name in ["main", "static OrchardApp.main()", "static OrchardApp.$main()"] {
            assert!(is_entry_point(name), "{name}");
        }
        for name in ["domain", "rust_test2::main", "static Orchard.remain()", "Orchard.main()"] {
            assert!(!is_entry_point(name), "{name}");
        }
    }
}
