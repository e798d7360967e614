// What caused app code to run, with the names of `src/report/overview/origin.rs`: a timer, an event, a queue, a thread's start.

export type Origin =
  | 'main-queue'
  | 'queue'
  | 'swift-task'
  | 'timer'
  | 'display-link'
  | 'input'
  | 'layout'
  | 'notification'
  | 'run-loop'
  | 'launch'
  | 'initializer'
  | 'thread';

const ORIGINS: readonly (readonly [Origin, readonly string[]])[] = [
  ['main-queue', ['__CFRUNLOOP_IS_SERVICING_THE_MAIN_DISPATCH_QUEUE__', '_dispatch_main_queue_callback_4CF']],
  [
    'queue',
    [
      '_dispatch_worker_thread',
      '_dispatch_worker_thread2',
      '_dispatch_root_queue_drain',
      '_dispatch_lane_invoke',
      '_dispatch_workloop_worker_thread',
      '_dispatch_apply_invoke',
      '_dispatch_lane_serial_drain',
      '_dispatch_kevent_worker_thread',
      '__NSOPERATION_IS_INVOKING_MAIN__',
    ],
  ],
  ['swift-task', ['swift::runJobInEstablishedExecutorContext', 'swift_job_run', 'swift_job_runImpl', 'completeTaskWithClosure']],
  ['timer', ['__CFRUNLOOP_IS_CALLING_OUT_TO_A_TIMER_CALLBACK_FUNCTION__', '__NSFireTimer']],
  [
    'display-link',
    [
      'CA::Display::DisplayLink::dispatch_items',
      'CA::Display::DisplayLinkItem::dispatch',
      'CA::Display::DisplayLinkItem::dispatch_',
      'CA::Display::DisplayTimerLink::callback',
    ],
  ],
  [
    'input',
    [
      '-[UIApplication sendEvent:]',
      '-[UIApplication sendAction:to:from:forEvent:]',
      '-[UIWindow sendEvent:]',
      '-[NSApplication sendEvent:]',
      '-[NSApplication(NSEventRouting) sendEvent:]',
      '-[NSApplication(NSResponder) sendAction:to:from:]',
      '-[NSApplication sendAction:to:from:]',
      '-[NSWindow sendEvent:]',
      '-[NSWindow(NSEventRouting) sendEvent:]',
      '-[UIGestureRecognizerTarget _sendActionWithGestureRecognizer:]',
      '__handleEventQueue',
    ],
  ],
  [
    'layout',
    [
      'CA::Transaction::commit',
      'CA::Transaction::flush_as_runloop_observer',
      'CA::Context::commit_transaction',
      'CA::Layer::layout_if_needed',
      'CA::Layer::display_if_needed',
      '_UIApplicationFlushCATransaction',
    ],
  ],
  [
    'notification',
    ['__CFNOTIFICATIONCENTER_IS_CALLING_OUT_TO_AN_OBSERVER__', '-[NSNotificationCenter postNotificationName:object:userInfo:]'],
  ],
  [
    'run-loop',
    [
      '__CFRUNLOOP_IS_CALLING_OUT_TO_A_BLOCK__',
      '__CFRUNLOOP_IS_CALLING_OUT_TO_A_SOURCE0_PERFORM_FUNCTION__',
      '__CFRUNLOOP_IS_CALLING_OUT_TO_A_SOURCE1_PERFORM_FUNCTION__',
      '__CFRUNLOOP_IS_CALLING_OUT_TO_AN_OBSERVER_CALLBACK_FUNCTION__',
    ],
  ],
  [
    'launch',
    [
      '-[UIApplication _handleDelegateCallbacksWithOptions:isSuspended:restoreState:]',
      '-[UIApplication _callInitializationDelegatesWithActions:forCanvas:payload:fromOriginatingProcess:]',
      '-[NSApplication finishLaunching]',
      '-[NSApplication _sendFinishLaunchingNotification]',
    ],
  ],
  [
    'initializer',
    [
      'dyld4::APIs::runAllInitializersForMain',
      'dyld4::Loader::runInitializersBottomUpPlusUpwardLinks',
      'ImageLoaderMachO::doInitialization',
      'invocation function for block in dyld4::Loader::findAndRunAllInitializers',
      'load_images',
    ],
  ],
  ['thread', ['_pthread_start', '__NSThread__start__', '_pthread_body', 'thread_start']],
];

const OF_NAME = new Map(ORIGINS.flatMap(([origin, names]) => names.map((name): [string, Origin] => [name, origin])));

/** The origin that a system function indicates, if any. */
export function originOf(name: string): Origin | null {
  // A name may have its parameters: `CA::Transaction::commit()`.
  const at = name.indexOf('(');
  return OF_NAME.get(at > 0 ? name.slice(0, at) : name) ?? OF_NAME.get(name) ?? null;
}

/** Functions that run a run loop: the caller did not request the system work below them. */
const RUN_LOOPS = new Set([
  '-[NSApplication run]',
  '-[NSRunLoop run]',
  '-[NSRunLoop runMode:beforeDate:]',
  '-[NSRunLoop runUntilDate:]',
  '-[NSRunLoop(NSRunLoop) run]',
  '-[NSRunLoop(NSRunLoop) runMode:beforeDate:]',
  '-[NSRunLoop(NSRunLoop) runUntilDate:]',
  'CFRunLoopRun',
  'CFRunLoopRunInMode',
  'CFRunLoopRunSpecific',
  'GSEventRun',
  'GSEventRunModal',
  'NSApplicationMain',
  'NSExtensionMain',
  'UIApplicationMain',
  'WKExtensionMain',
  '_CFRunLoopRunSpecificWithOptions',
  '__CFRunLoopRun',
  '_dispatch_sig_thread',
  'dispatch_main',
  'xpc_main',
  'static App.main()',
  'SwiftUI.runApp',
  'runApp<A>(_:)',
]);

export function isRunLoop(name: string): boolean {
  return RUN_LOOPS.has(name);
}

/** True if a function is the entry point of a program: `main`, the compiler's variants of it, and Swift's `static Orchard.main()`. */
export function isEntryPoint(name: string): boolean {
  if (['main', '_main', 'main_0'].includes(name)) return true;
  return name.startsWith('static ') && (name.endsWith('.main()') || name.endsWith('.$main()'));
}
