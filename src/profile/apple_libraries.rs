//! The names of Apple's libraries, for binaries whose paths were not recorded.
//!
//! These are framework names from Apple's documentation, and names in published reports with paths in `/System/Library` and `/usr/lib`. Names
//! that apps also give to their frameworks, such as `Charts`, `Contacts` or `Network`, are omitted.

const NAMES: &str = "
    ARKit AVFAudio AVFCapture AVFCore AVFoundation AVKit AXCoreUtilities AXRuntime Accelerate AccessibilityUtilities Accounts
    AdServices AppIntents AppKit AppSupport AppTrackingTransparency ApplePushService ApplicationServices AssertionServices
    AssetsLibrary AttributeGraph AudioSession AudioToolbox AudioToolboxCore AudioToolboxUtility AuthKit AuthenticationServices
    BackBoardServices BackgroundTasks BaseBoard BoardServices BoringSSL CFNetwork CSExattrCrypto CallKit CarPlay CarPlayServices
    ClassKit CloudKit ColorSync ContactsUI CoreAnimation CoreAudio CoreAudioKit CoreAudioTypes CoreAutoLayout CoreBluetooth
    CoreData CoreDisplay CoreFoundation CoreGraphics CoreHaptics CoreImage CoreLocation CoreMIDI CoreML CoreMedia CoreMediaIO
    CoreMotion CoreNFC CoreServices CoreServicesInternal CoreServicesStore CoreSpotlight CoreSVG CoreSymbolication CoreTelephony
    CoreText CoreTransferable CoreUI CoreUtils CoreVideo CoreWLAN CryptoKit CryptoTokenKit DataDetectorsCore DesktopServicesPriv
    DeviceCheck DiskArbitration DocumentManager Espresso EventKit EventKitUI ExtensionFoundation ExtensionKit ExternalAccessory
    FileProvider Foundation FrontBoard FrontBoardServices GLKit GameController GameKit GeoServices Gestures GraphicsServices
    HIToolbox HealthKit HealthKitUI HomeKit IOAccelerator IOBluetooth IOKit IOMobileFramebuffer IOSurface IOSurfaceAccelerator
    IconServices IdentityLookup ImageCaptureCore ImageIO IntentsUI JavaScriptCore JetEngine KeyboardServices LaunchServices
    LinkPresentation LocalAuthentication MPSCore MPSImage MPSMatrix MPSNDArray MPSNeuralNetwork ManagedConfiguration MapKit
    MediaAccessibility MediaExperience MediaPlayer MediaRemote MediaToolbox MessageUI Metal MetalFX MetalKit
    MetalPerformanceShaders MetalPerformanceShadersGraph MetricKit MobileAsset MobileCoreServices ModelIO MultipeerConnectivity
    NaturalLanguage NearbyInteraction NetworkExtension NotificationCenter OSLog OpenCL OpenDirectory OpenGL OpenGLES PDFKit
    PassKitCore PassKitUI PencilKit PhotosUI PhysicsKit PrototypeTools PushKit QuartzCore QuickLook QuickLookThumbnailing RealityKit
    RemoteViewServices ReplayKit RunningBoardServices SafariServices SceneKit ScreenCaptureKit ScreenTimeCore Security
    ServiceManagement ShareSheet SkyLight SoundAnalysis SpringBoardServices SpriteKit StoreKit SwiftData SwiftUI SwiftUICore
    SystemConfiguration TextInput TextInputCore TextInputUI UIFoundation UIIntelligenceSupport UIKit UIKitCore UIKitMacHelper
    UIKitServices UniformTypeIdentifiers UpdateCycle UserNotifications UserNotificationsUI VectorKit VideoSubscriberAccount
    VideoToolbox VisionKit WatchConnectivity WebBookmarks WebCore WebGPU WebKit WebKitLegacy WidgetKit XCTest
    libAccessibility.dylib libBacktraceRecording.dylib libCGInterfaces.dylib libCoreStorage.dylib libGPUCompiler.dylib
    libLLVM.dylib libMainThreadChecker.dylib libMobileGestalt.dylib libRPAC.dylib libViewDebuggerSupport.dylib
    libapple_nghttp2.dylib libarchive.2.dylib libate.dylib libboringssl.dylib libbsm.0.dylib libbz2.1.0.dylib libcache.dylib
    libcommonCrypto.dylib libcompiler_rt.dylib libcompression.dylib libcopyfile.dylib libcorecrypto.dylib libcoretls.dylib
    libcupolicy.dylib libcurl.4.dylib libdispatch.dylib libdns_services.dylib libedit.3.dylib libheimdal-asn1.dylib
    libiconv.2.dylib libicucore.A.dylib libkeymgr.dylib liblangid.dylib liblaunch.dylib liblzma.5.dylib libmacho.dylib
    libmecabra.dylib libnetwork.dylib libnetworkextension.dylib libnotify.dylib libpam.2.dylib libpcap.A.dylib libprequelite.dylib
    libquarantine.dylib libquic.dylib libremovefile.dylib libresolv.9.dylib libsandbox.1.dylib libsqlite3.dylib
    libsysdiagnose.dylib libusrtcp.dylib libutil.dylib libxml2.2.dylib libxpc.dylib libxslt.1.dylib libz.1.dylib
";

pub(super) fn is_of_apple(name: &str) -> bool {
    NAMES.split_ascii_whitespace().any(|known| known == name)
}
