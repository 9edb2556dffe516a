package cluster

import (
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
)

// sliceDecoder decodes ResourceSlices, decoding equal parts of devices once.
//
// A fleet publishes the same few kinds of device thousands of times: the capacities of a 1g.5gb
// partition are the same text on every node. Equal text gives the same decoded map, which is shared,
// so that memory and time grow with the number of distinct parts. The maps must not be changed.
//
// Slices are most of the export of a fleet. What is usual in them is read without reflection; all else is left to the
// decoder of all types, which gives the same.
type sliceDecoder struct {
	attributes part[map[resourcev1.QualifiedName]resourcev1.DeviceAttribute]
	capacity   part[map[resourcev1.QualifiedName]resourcev1.DeviceCapacity]
	counters   part[[]resourcev1.DeviceCounterConsumption]
	sets       part[[]resourcev1.CounterSet]
	words      words
}

func newSliceDecoder() *sliceDecoder {
	d := &sliceDecoder{}
	d.attributes.fast = d.plainAttributes
	return d
}

func (d *sliceDecoder) decode(data []byte) (decoded, error) {
	slice, ok := d.usual(data)
	if !ok {
		return into[resourcev1.ResourceSlice](data)
	}
	return decoded{slice, &slice.ObjectMeta}, nil
}

// usual decodes a slice part by part. It reports false for one that is to be decoded as a whole.
func (d *sliceDecoder) usual(data []byte) (*resourcev1.ResourceSlice, bool) {
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
	slice := &resourcev1.ResourceSlice{}
	if !ok || len(parts) > 2 || unmarshal(blanked(data, parts...), slice) != nil {
		return nil, false
	}
	if len(parts) == 2 && (devices == nil || sets == nil) {
		return nil, false // one of them twice
	}
	var err error
	if slice.Spec.SharedCounters, err = d.sets.decode(sets); err != nil {
		return nil, false
	}
	if devices != nil {
		slice.Spec.Devices, ok = d.devices(devices)
	}
	return slice, ok
}

func (d *sliceDecoder) devices(text []byte) ([]resourcev1.Device, bool) {
	n := 0
	if !elements(text, func([]byte) bool { n++; return true }) {
		return nil, false
	}
	out := make([]resourcev1.Device, n)
	n = 0
	return out, elements(text, func(one []byte) bool {
		n++
		return d.device(one, &out[n-1])
	})
}

// deviceParts are the fields of a device that are decoded apart.
var deviceParts = [...]string{"name", "attributes", "capacity", "consumesCounters"}

func (d *sliceDecoder) device(text []byte, device *resourcev1.Device) bool {
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
	if len(rest) > 0 {
		rest[0] = '{'
		if unmarshal(append(rest, '}'), device) != nil {
			return false
		}
	}
	name, ok := plainString(parts[0])
	if !ok {
		return false
	}
	device.Name = *d.words.of(name)
	var err [3]error
	device.Attributes, err[0] = d.attributes.decode(parts[1])
	device.Capacity, err[1] = d.capacity.decode(parts[2])
	device.ConsumesCounters, err[2] = d.counters.decode(parts[3])
	return err == [3]error{}
}

// plainAttributes decodes attributes of which each is one string, version, number or boolean.
func (d *sliceDecoder) plainAttributes(text []byte) (map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, bool) {
	n := 0
	if !members(text, func(_, _ []byte) bool { n++; return true }) {
		return nil, false
	}
	out := make(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, n)
	ok := members(text, func(key, value []byte) bool {
		attribute, ok := d.plainAttribute(value)
		out[resourcev1.QualifiedName(*d.words.of(key))] = attribute
		return ok
	})
	return out, ok && len(out) == n
}

func (d *sliceDecoder) plainAttribute(text []byte) (out resourcev1.DeviceAttribute, ok bool) {
	n := 0
	ok = members(text, func(key, value []byte) bool {
		n++
		word, quoted := plainString(value)
		switch string(key) {
		case "string":
			if quoted {
				out.StringValue = d.words.of(word)
			}
			return quoted
		case "version":
			if quoted {
				out.VersionValue = d.words.of(word)
			}
			return quoted
		case "bool":
			yes := string(value) == "true"
			out.BoolValue = &yes
			return yes || string(value) == "false"
		case "int":
			number, err := strconv.ParseInt(string(value), 10, 64)
			out.IntValue = &number
			return err == nil
		}
		return false
	})
	return out, ok && n == 1
}
