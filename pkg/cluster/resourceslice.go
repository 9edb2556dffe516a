package cluster

import (
	"encoding/json"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
)

// sliceDecoder decodes ResourceSlices, decoding equal parts of devices once.
//
// A fleet publishes the same few kinds of device thousands of times: the capacities of a 1g.5gb
// partition are the same text on every node. Equal text gives the same decoded map, which is shared,
// so that memory and time grow with the number of distinct parts. The maps must not be changed.
type sliceDecoder struct {
	attributes part[map[resourcev1.QualifiedName]resourcev1.DeviceAttribute]
	capacity   part[map[resourcev1.QualifiedName]resourcev1.DeviceCapacity]
	counters   part[[]resourcev1.DeviceCounterConsumption]
}

// slice, sliceSpec and device shadow the fields that are decoded apart; all others go to the embedded type.
type slice struct {
	resourcev1.ResourceSlice
	Spec sliceSpec `json:"spec"`
}

type sliceSpec struct {
	resourcev1.ResourceSliceSpec
	Devices []device `json:"devices"`
}

type device struct {
	resourcev1.Device
	Attributes       json.RawMessage `json:"attributes"`
	Capacity         json.RawMessage `json:"capacity"`
	ConsumesCounters json.RawMessage `json:"consumesCounters"`
}

func (d *sliceDecoder) decode(data []byte) (decoded, error) {
	var in slice
	if err := unmarshal(data, &in); err != nil {
		return decoded{}, err
	}
	out := &in.ResourceSlice
	out.Spec = in.Spec.ResourceSliceSpec
	if len(in.Spec.Devices) > 0 {
		out.Spec.Devices = make([]resourcev1.Device, len(in.Spec.Devices))
	}
	for i := range in.Spec.Devices {
		from, to := &in.Spec.Devices[i], &out.Spec.Devices[i]
		*to = from.Device
		var err error
		if to.Attributes, err = d.attributes.decode(from.Attributes); err != nil {
			return decoded{}, err
		}
		if to.Capacity, err = d.capacity.decode(from.Capacity); err != nil {
			return decoded{}, err
		}
		if to.ConsumesCounters, err = d.counters.decode(from.ConsumesCounters); err != nil {
			return decoded{}, err
		}
	}
	copied := *out
	return decoded{&copied, &copied.ObjectMeta}, nil
}

// part remembers what a piece of JSON text decodes to.
type part[T any] struct {
	mu    sync.RWMutex
	known map[string]T
}

// maxParts bounds the memory of a part against input that never repeats itself.
const maxParts = 1 << 20

func (p *part[T]) decode(text json.RawMessage) (T, error) {
	var value T
	if len(text) == 0 || string(text) == "null" {
		return value, nil
	}
	p.mu.RLock()
	known, ok := p.known[string(text)]
	p.mu.RUnlock()
	if ok {
		return known, nil
	}
	if err := unmarshal(text, &value); err != nil {
		return value, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]T{}
	}
	if known, ok := p.known[string(text)]; ok {
		return known, nil
	}
	if len(p.known) < maxParts {
		p.known[string(text)] = value
	}
	return value, nil
}
