package cluster

import (
	"encoding/json"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
)

// sliceDecoder decodes ResourceSlices, decoding equal parts of devices once.
//
// A fleet publishes the same few kinds of device thousands of times: the capacities of a 1g.5gb
// partition are the same text on every node. Equal text gives the same decoded value, which is shared,
// so that memory and time grow with the number of distinct parts. The values must not be changed.
//
// Slices are most of the export of a fleet. What is usual in them is read without reflection; all else is left to the
// decoder of all types, which gives the same.
type sliceDecoder struct {
	attributes part[Attributes]
	capacity   part[map[resourcev1.QualifiedName]resourcev1.DeviceCapacity]
	counters   part[[]resourcev1.DeviceCounterConsumption]
	sets       part[[]resourcev1.CounterSet]
	// rest are the fields of a device that few have.
	rest part[*resourcev1.Device]
	// words are the names of devices and of their attributes, values those of attributes.
	words  interned[string]
	values map[string]*interned[resourcev1.DeviceAttribute] // by the field of the API that holds them
}

func newSliceDecoder() *sliceDecoder {
	d := &sliceDecoder{words: interned[string]{make: func(text string) (*string, bool) { return &text, true }}}
	d.attributes.fast = d.plainAttributes
	d.values = map[string]*interned[resourcev1.DeviceAttribute]{}
	for field, read := range map[string]func(text string) (resourcev1.DeviceAttribute, bool){
		"string": func(text string) (resourcev1.DeviceAttribute, bool) {
			return resourcev1.DeviceAttribute{StringValue: &text}, true
		},
		"version": func(text string) (resourcev1.DeviceAttribute, bool) {
			return resourcev1.DeviceAttribute{VersionValue: &text}, true
		},
		"bool": func(text string) (resourcev1.DeviceAttribute, bool) {
			yes := text == "true"
			return resourcev1.DeviceAttribute{BoolValue: &yes}, yes || text == "false"
		},
		"int": func(text string) (resourcev1.DeviceAttribute, bool) {
			number, err := strconv.ParseInt(text, 10, 64)
			return resourcev1.DeviceAttribute{IntValue: &number}, err == nil
		},
	} {
		d.values[field] = &interned[resourcev1.DeviceAttribute]{make: func(text string) (*resourcev1.DeviceAttribute,
			bool) {
			value, ok := read(text)
			return &value, ok
		}}
	}
	return d
}

func (d *sliceDecoder) decode(data []byte) (decoded, error) {
	if slice, ok := d.usual(data); ok {
		return decoded{slice, &slice.ObjectMeta}, nil
	}
	return d.whole(into[resourcev1.ResourceSlice])(data)
}

// whole decodes slices as a whole, by a decoder that gives the type of the API.
func (d *sliceDecoder) whole(decode decodeFunc) decodeFunc {
	return func(data []byte) (decoded, error) {
		out, err := decode(data)
		if err != nil {
			return out, err
		}
		return compacted(out, d), nil
	}
}

// compacted is a decoded object in the form a snapshot holds: of slices a form of their own, of all others the type of
// the API.
func compacted(out decoded, d *sliceDecoder) decoded {
	if api, ok := out.typed.(*resourcev1.ResourceSlice); ok {
		slice := d.compact(api)
		return decoded{slice, &slice.ObjectMeta}
	}
	return out
}

// usual decodes a slice part by part. It reports false for one that is to be decoded as a whole.
func (d *sliceDecoder) usual(data []byte) (*DeviceSlice, bool) {
	spec, ok := member(data, "spec")
	if !ok {
		return nil, false
	}
	var devices, sets []byte
	var parts [][]byte
	ok = members(spec, func(key, value []byte) bool {
		switch string(key) {
		case "devices":
			devices, parts = value, append(parts, value)
		case "sharedCounters":
			sets, parts = value, append(parts, value)
		}
		return true
	})
	head := resourcev1.ResourceSlice{}
	if !ok || len(parts) > 2 || unmarshal(blanked(data, parts...), &head) != nil {
		return nil, false
	}
	if len(parts) == 2 && (devices == nil || sets == nil) {
		return nil, false // one of them twice
	}
	slice := headOf(&head)
	var err error
	if slice.Spec.SharedCounters, err = d.sets.decode(sets); err != nil {
		return nil, false
	}
	if devices != nil {
		slice.Spec.Devices, ok = d.devices(devices)
	}
	return slice, ok
}

func (d *sliceDecoder) devices(text []byte) ([]Device, bool) {
	n := 0
	if !elements(text, func([]byte) bool { n++; return true }) {
		return nil, false
	}
	out := make([]Device, n)
	n = 0
	return out, elements(text, func(one []byte) bool {
		n++
		return d.device(one, &out[n-1])
	})
}

// deviceParts are the fields of a device that are decoded apart.
var deviceParts = [...]string{"name", "attributes", "capacity", "consumesCounters"}

func (d *sliceDecoder) device(text []byte, device *Device) bool {
	var parts [len(deviceParts)][]byte
	var rest []byte
	ok := members(text, func(key, value []byte) bool {
		for i, name := range deviceParts {
			if string(key) == name {
				again := parts[i] != nil
				parts[i] = value
				return !again
			}
		}
		rest = append(append(append(append(rest, ",\""...), key...), "\":"...), value...)
		return true
	})
	if !ok {
		return false
	}
	name, ok := plainString(parts[0])
	if !ok {
		return false
	}
	word, _ := d.words.of(name)
	device.Name = *word
	var err [4]error
	device.Attributes, err[0] = d.attributes.decode(parts[1])
	device.Capacity, err[1] = d.capacity.decode(parts[2])
	device.ConsumesCounters, err[2] = d.counters.decode(parts[3])
	if len(rest) > 0 {
		rest[0] = '{'
		device.rest, err[3] = d.rest.decode(append(rest, '}'))
	}
	return err == [4]error{}
}

// plainAttributes decodes attributes of which each is one string, version, number or boolean.
func (d *sliceDecoder) plainAttributes(text []byte) (Attributes, bool) {
	n := 0
	if !members(text, func(_, _ []byte) bool { n++; return true }) {
		return nil, false
	}
	out := make(Attributes, 0, n)
	ok := members(text, func(key, value []byte) bool {
		attribute, ok := d.plainAttribute(value)
		if ok {
			name, _ := d.words.of(key)
			out = append(out, Attribute{resourcev1.QualifiedName(*name), attribute})
		}
		return ok
	})
	out.sort()
	for i := 1; i < len(out); i++ {
		ok = ok && out[i].Name != out[i-1].Name
	}
	return out, ok
}

func (d *sliceDecoder) plainAttribute(text []byte) (out *resourcev1.DeviceAttribute, ok bool) {
	n := 0
	ok = members(text, func(key, value []byte) bool {
		n++
		word, quoted := plainString(value)
		values := d.values[string(key)]
		switch string(key) {
		case "string", "version":
			ok = quoted
		case "bool", "int":
			word, ok = value, true
		default:
			return false
		}
		if ok {
			out, ok = values.of(word)
		}
		return ok
	})
	return out, ok && n == 1
}

// list is the one copy of attributes that were decoded as a whole. Only plain ones are looked for among the others.
func (d *sliceDecoder) list(m map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) Attributes {
	for _, a := range m {
		if a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil || a.VersionValues != nil {
			return attributesOf(m)
		}
	}
	if m != nil {
		if text, err := json.Marshal(m); err == nil {
			if shared, err := d.attributes.decode(text); err == nil {
				return shared
			}
		}
	}
	return attributesOf(m)
}
