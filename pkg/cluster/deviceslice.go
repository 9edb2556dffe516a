package cluster

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeviceSlice is a ResourceSlice of resource.k8s.io/v1 in the form a snapshot holds it, whatever version it was written
// in.
//
// Fleets publish a hundred thousand devices and more, of which each takes kilobytes as a type of the API. Here a device
// takes less than a hundred bytes beside what it shares with others. What is shared must not be changed.
// [DeviceSlice.API] gives the type of the API, for those who need one.
type DeviceSlice struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec DeviceSliceSpec
}

// DeviceSliceSpec has the fields of the API's type of this name.
type DeviceSliceSpec struct {
	Driver                 string
	Pool                   resourcev1.ResourcePool
	NodeName               *string
	NodeSelector           *corev1.NodeSelector
	AllNodes               *bool
	Devices                []Device
	PerDeviceNodeSelection *bool
	SharedCounters         []resourcev1.CounterSet
	PartitionTypeAttribute *resourcev1.FullyQualifiedName
	SkipNodeOperations     []resourcev1.SkipNodeOperation
}

// Device is one device of a slice.
type Device struct {
	Name string
	// Attributes, Capacity and ConsumesCounters are the same list or map for devices in which they are equal.
	Attributes       Attributes
	Capacity         map[resourcev1.QualifiedName]resourcev1.DeviceCapacity
	ConsumesCounters []resourcev1.DeviceCounterConsumption

	// rest are the other fields; nil for most devices.
	rest *resourcev1.Device
}

// noRest are the other fields of a device that has none.
var noRest resourcev1.Device

func (d *Device) others() *resourcev1.Device {
	if d.rest == nil {
		return &noRest
	}
	return d.rest
}

// Taints that the driver puts on the device.
func (d *Device) Taints() []resourcev1.DeviceTaint { return d.others().Taints }

// Shareable tells that the device allows multiple allocations.
func (d *Device) Shareable() bool {
	allowed := d.others().AllowMultipleAllocations
	return allowed != nil && *allowed
}

// Nodes are the fields that say which nodes can use the device. They count where the slice selects nodes per device.
func (d *Device) Nodes() (name *string, selector *corev1.NodeSelector, all *bool) {
	others := d.others()
	return others.NodeName, others.NodeSelector, others.AllNodes
}

// API is the device as a type of the API. It shares what the device shares, but for the map of the attributes.
func (d *Device) API() resourcev1.Device {
	out := *d.others()
	out.Name, out.Attributes, out.Capacity, out.ConsumesCounters = d.Name, d.Attributes.Map(), d.Capacity,
		d.ConsumesCounters
	return out
}

// API is the slice as the type of the API, which is made anew each time. What devices share must not be changed in it
// either.
func (s *DeviceSlice) API() *resourcev1.ResourceSlice {
	spec := &s.Spec
	out := &resourcev1.ResourceSlice{TypeMeta: s.TypeMeta, ObjectMeta: s.ObjectMeta, Spec: resourcev1.ResourceSliceSpec{
		Driver: spec.Driver, Pool: spec.Pool, NodeName: spec.NodeName, NodeSelector: spec.NodeSelector,
		AllNodes:               spec.AllNodes,
		PerDeviceNodeSelection: spec.PerDeviceNodeSelection, SharedCounters: spec.SharedCounters,
		PartitionTypeAttribute: spec.PartitionTypeAttribute, SkipNodeOperations: spec.SkipNodeOperations,
	}}
	if spec.Devices != nil {
		out.Spec.Devices = make([]resourcev1.Device, len(spec.Devices))
	}
	for i := range spec.Devices {
		out.Spec.Devices[i] = spec.Devices[i].API()
	}
	return out
}

// NewDeviceSlice brings a slice into the form a snapshot holds. It takes over what the slice holds.
func NewDeviceSlice(from *resourcev1.ResourceSlice) *DeviceSlice {
	return newSliceDecoder().compact(from)
}

// headOf is a slice without its devices.
func headOf(from *resourcev1.ResourceSlice) *DeviceSlice {
	spec := &from.Spec
	return &DeviceSlice{TypeMeta: from.TypeMeta, ObjectMeta: from.ObjectMeta, Spec: DeviceSliceSpec{
		Driver: spec.Driver, Pool: spec.Pool, NodeName: spec.NodeName, NodeSelector: spec.NodeSelector,
		AllNodes:               spec.AllNodes,
		PerDeviceNodeSelection: spec.PerDeviceNodeSelection, SharedCounters: spec.SharedCounters,
		PartitionTypeAttribute: spec.PartitionTypeAttribute, SkipNodeOperations: spec.SkipNodeOperations,
	}}
}

// compact is a slice that was decoded as a whole.
func (d *sliceDecoder) compact(from *resourcev1.ResourceSlice) *DeviceSlice {
	out := headOf(from)
	if from.Spec.Devices != nil {
		out.Spec.Devices = make([]Device, len(from.Spec.Devices))
	}
	for i := range from.Spec.Devices {
		out.Spec.Devices[i] = d.compactDevice(from.Spec.Devices[i])
	}
	return out
}

func (d *sliceDecoder) compactDevice(from resourcev1.Device) Device {
	name, _ := d.words.of([]byte(from.Name))
	out := Device{Name: *name, Attributes: d.list(from.Attributes), Capacity: from.Capacity,
		ConsumesCounters: from.ConsumesCounters}
	from.Name, from.Attributes, from.Capacity, from.ConsumesCounters = "", nil, nil, nil
	if !reflect.ValueOf(from).IsZero() {
		out.rest = &from
	}
	return out
}

// Attributes of a device, in the order of their names.
type Attributes []Attribute

// Attribute of a device. Equal values of devices are one.
type Attribute struct {
	Name  resourcev1.QualifiedName
	Value *resourcev1.DeviceAttribute
}

// Get returns the value of an attribute; nil when the device has none of that name.
func (a Attributes) Get(name resourcev1.QualifiedName) *resourcev1.DeviceAttribute {
	for i := range a { // a handful
		if a[i].Name == name {
			return a[i].Value
		}
	}
	return nil
}

// Map is the list as the API has it. It is made anew each time.
func (a Attributes) Map() map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	if a == nil {
		return nil
	}
	out := make(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, len(a))
	for _, one := range a {
		out[one.Name] = *one.Value
	}
	return out
}

// UnmarshalJSON reads what the API has for the attributes of a device.
func (a *Attributes) UnmarshalJSON(text []byte) error {
	var m map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
	if err := unmarshal(text, &m); err != nil {
		return err
	}
	*a = attributesOf(m)
	return nil
}

func attributesOf(m map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) Attributes {
	if m == nil {
		return nil
	}
	out := make(Attributes, 0, len(m))
	for name, value := range m {
		out = append(out, Attribute{name, &value})
	}
	out.sort()
	return out
}

func (a Attributes) sort() {
	slices.SortFunc(a, func(x, y Attribute) int { return strings.Compare(string(x.Name), string(y.Name)) })
}
