package message

// Errors about claims and devices.
const (
	UnmappedClass       Code = "UnmappedClass"
	TooFewOfClass       Code = "TooFewOfClass"
	TooFewOfSource      Code = "TooFewOfSource"
	TemplateUnreadable  Code = "TemplateUnreadable"
	FirstAvailable      Code = "FirstAvailable"
	AllDevices          Code = "AllDevices"
	AdminAccess         Code = "AdminAccess"
	ExtendedHasSources  Code = "ExtendedHasSources"
	SelectorFails       Code = "SelectorFails"
	SourceSelectorFails Code = "SourceSelectorFails"
	SelectorInvalid     Code = "SelectorInvalid"
	ClassUnreadable     Code = "ClassUnreadable"
	ClassSelector       Code = "ClassSelector"
	NotPublished        Code = "NotPublished"
	CapacityUnmet       Code = "CapacityUnmet"
	FractionalExtended  Code = "FractionalExtended"
	ObjectNotFound      Code = "ObjectNotFound"
	LimitRangeViolated  Code = "LimitRangeViolated"
)

// deviceParts mirrors Kueue's pkg/dra. They are field errors, of which the part that matters is searched for.
var deviceParts = []form{
	{UnmappedClass, `DeviceClass {class} is not mapped in DRA configuration for podset {podset:[^"\s]+}`,
		`DeviceClass {class} is not mapped to a quota resource (pod set {podset})`},
	{TooFewOfClass, `insufficient matching devices for CEL selector in DeviceClass {class}: {matching:\d+} device(s) match in the cluster but {asked:\d+} requested`,
		`DeviceClass {class}: {matching} devices match the selectors, {asked} are requested`},
	{TooFewOfSource, `insufficient matching devices for {source:counter|capacity} driver: {matching:\d+} device(s) match{where:[^0-9]*}{asked:\d+} requested`,
		`{matching} devices of the {source} source's driver match, {asked} are requested`},
	{TemplateUnreadable, `failed to get claim spec for ResourceClaimTemplate {template} in podset {podset:\S+?}:`,
		`ResourceClaimTemplate {template} of pod set {podset} cannot be read`},
	{FirstAvailable, `ResourceClaimTemplate {template}: FirstAvailable device selection is not supported`,
		`ResourceClaimTemplate {template} uses firstAvailable, which Kueue cannot charge`},
	{AllDevices, `ResourceClaimTemplate {template}: AllocationMode 'All' is not supported`,
		`ResourceClaimTemplate {template} asks for all devices, which Kueue cannot charge`},
	{AdminAccess, `ResourceClaimTemplate {template}: AdminAccess is not supported`,
		`ResourceClaimTemplate {template} asks for admin access, which this Kueue refuses`},
	{ExtendedHasSources,
		`extended resource {resource} resolves to DeviceClass {class} with {sources:counters|capacity sources} configured`,
		`{resource} resolves to DeviceClass {class}, which is charged by sources; use a ResourceClaimTemplate instead`},
	{SelectorFails, `CEL evaluation failed for DeviceClass {class}:`,
		`a selector for DeviceClass {class} fails on a device`},
	{SourceSelectorFails,
		`CEL evaluation error in {which:deviceSelector|DeviceClass selector|request selector} for device {device:\S+?}:`,
		`the {which} fails on device {device}`},
	{SelectorInvalid, `CEL compilation failed`, `a CEL selector does not compile`},
	{ClassUnreadable, `failed to get DeviceClass {class}`, `DeviceClass {class} cannot be read`},
	{ClassSelector, `has invalid CEL selector`, `a DeviceClass has a CEL selector that does not compile`},
	{NotPublished, `matched devices have no {what:consumesCounters entry for counter|capacity dimension} "{name:[^"]+}"`,
		`the devices that match do not publish "{name}"`},
	{CapacityUnmet, `capacity request cannot be satisfied by any matched device`,
		`no device that matches can give the capacity asked for`},
	{FractionalExtended, `extended resource quantity must be an integer`,
		`an extended resource is asked for in a fraction`},
}

// innerParts are parts of errors that stand inside of those above, or of messages of attempts. They have no meaning of
// their own.
var innerParts = []form{
	{ObjectNotFound, `{kind:DeviceClass|ResourceClaimTemplate}.resource.k8s.io "{name:[^"]+}" not found`, ``},
	{LimitRangeViolated,
		`spec.podSets[{set:\d+}].template.{field:spec[^:]*}: Invalid value: {names:\[?(?:"[^"]+"(?:, ?|\])?)+}: ` +
			`requests must not be {bound:above the limitRange max|below the limitRange min}`, ``},
}
