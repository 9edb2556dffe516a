package report

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// stock is what testdata/devices.yaml publishes and holds.
func stock(t *testing.T) *device.Stock {
	t.Helper()
	b := cluster.NewBuilder(nil)
	if err := source.Read(context.Background(), source.Options{Filenames: []string{"testdata/devices.yaml"}}, b.Sink(cluster.InputOptions{})); err != nil {
		t.Fatal(err)
	}
	snap := b.Build()
	return device.NewStock(device.NewInventory(snap, selector.Newest), device.NewAllocations(snap))
}

func TestScreensOfDevices(t *testing.T) {
	ofDriver := func(name string) func(*device.PoolStock) bool {
		return func(p *device.PoolStock) bool { return p.Driver == name }
	}
	onNode := func(name string) func(*device.Group) bool {
		return func(g *device.Group) bool { return g.Place.Node == name }
	}
	unknown := func() *Devices {
		s := stock(t)
		s.Known = false
		return NewDevices(s, []string{"ResourceClaim"}, nil, nil)
	}
	cases := map[string]struct {
		document Document
		format   string
		terminal Terminal
	}{
		"devices.txt":         {document: NewDevices(stock(t), nil, nil, nil)},
		"devices-wide.txt":    {document: NewDevices(stock(t), nil, nil, nil), format: "wide", terminal: Terminal{Width: 160}},
		"devices-narrow.txt":  {document: NewDevices(stock(t), nil, ofDriver("gpu.example.com"), nil), terminal: Terminal{Width: 60}},
		"devices-ascii.txt":   {document: NewDevices(stock(t), nil, nil, onNode("node-2")), terminal: Terminal{ASCII: true}},
		"devices-color.txt":   {document: NewDevices(stock(t), nil, nil, onNode("node-1")), terminal: Terminal{Color: true}},
		"devices-unknown.txt": {document: unknown()},
		"devices-none.txt":    {document: NewDevices(&device.Stock{}, []string{"ResourceSlice", "ResourceClaim"}, nil, nil)},
		"devices.json":        {document: NewDevices(stock(t), nil, nil, nil), format: "json"},
		"devices.yaml.txt":    {document: unknown(), format: "yaml"},
		"devices-names.txt":   {document: NewDevices(stock(t), nil, ofDriver("gpu.example.com"), nil), format: "name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { golden(t, name, printed(t, tc.document, tc.format, tc.terminal)) })
	}
}

func TestDevicesPrintTheirKind(t *testing.T) {
	decoder := json.NewDecoder(strings.NewReader(string(printed(t, NewDevices(stock(t), nil, nil, nil), "json", Terminal{}))))
	decoder.DisallowUnknownFields()
	var got DeviceList
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "DeviceList" || len(got.Items) == 0 || len(got.Models) == 0 {
		t.Errorf("got %+v", got)
	}
}
