package rules

import (
	"fmt"
	"reflect"
	"regexp"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var nearMiss = &lint.Rule{
	ID: "GQ213", Name: "threshold-misses-hardware", Severity: lint.Warning,
	Needs: kinds(cluster.ResourceSlice),
	Doc: lint.Doc{
		Title: "A threshold is just above what the devices have",
		Why: "A GPU sold with 80 GB publishes a little less than 80Gi (an H100 has 81559Mi, 80Gi are 81920Mi). A " +
			"selector for \"at least 80Gi\" leaves out the very devices it is meant for.",
		Bad:   "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory.compareTo(quantity(\"80Gi\")) >= 0'}\n",
		Good:  "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory.compareTo(quantity(\"79Gi\")) >= 0'}\n",
		Since: "every version",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, s := range p.Selectors() {
			for _, u := range p.Uses(s.Text) {
				if lowerBound(u, s.Text) && p.Need(cluster.ResourceSlice) {
					checkThreshold(p, s, u)
				}
			}
		}
	},
}

// comparedBelow matches compareTo with "less than".
var comparedBelow = regexp.MustCompile(`compareTo\(\s*quantity\([^)]*\)\s*\)\s*(<|==|!=)`)

// lowerBound tells that a use asks for at least an amount.
func lowerBound(u device.Use, text string) bool {
	return u.Map == "capacity" && u.Type == "quantity" &&
		(u.Method == "isGreaterThan" || u.Method == "compareTo" && !comparedBelow.MatchString(text))
}

// nearness is the part of a threshold that a device may lack to count as meant.
const nearness = 10

func checkThreshold(p *lint.Pass, s lint.Selector, u device.Use) {
	threshold, err := resource.ParseQuantity(u.Literal)
	if err != nil {
		return
	}
	t := nearThreshold{Use: u, threshold: threshold.Value(), known: map[uintptr]bool{}}
	missed, example := 0, lint.Place{}
	for slice, d := range p.Inventory().All() {
		if !t.missedBy(slice.Object.Spec.Driver, d) {
			continue
		}
		if missed++; missed == 1 {
			name, _ := t.justBelow(d)
			value := d.Capacity[name].Value
			example = lint.At(slice.Record,
				fmt.Sprintf("spec.devices[%d].capacity[%q].value", indexOf(slice, d.Name), name)).Saying("just below")
			example.Value = value.String()
		}
	}
	if missed == 0 {
		return
	}
	p.Report(lint.Diagnostic{At: s.At, Related: []lint.Place{example},
		Message: fmt.Sprintf("%s leaves out %s with %s of %s, just below it", u.Literal, plural(missed, "device"),
			example.Value, u.ID),
		Help: "if these are meant, take a lower threshold, or select by another attribute"})
}

// nearThreshold looks for devices that have a little less of a capacity than is asked for.
type nearThreshold struct {
	device.Use
	threshold int64
	// known are the answers for devices of a driver, by the address of their capacities: devices with equal ones share
	// them.
	known  map[uintptr]bool
	driver string
}

func (t *nearThreshold) missedBy(driver string, d *cluster.Device) bool {
	if driver != t.driver {
		t.driver = driver
		clear(t.known)
	}
	address := reflect.ValueOf(d.Capacity).Pointer()
	near, known := t.known[address]
	if !known {
		_, near = t.justBelow(d)
		t.known[address] = near
	}
	return near
}

// justBelow is the capacity of a device that is just below the threshold.
func (t *nearThreshold) justBelow(d *cluster.Device) (name resourcev1.QualifiedName, near bool) {
	for name, c := range d.Capacity {
		if domain, id := device.Qualify(name, t.driver); domain == t.Domain && id == t.ID {
			short := t.threshold - c.Value.Value()
			return name, short > 0 && short <= t.threshold/nearness
		}
	}
	return "", false
}

func indexOf(s *device.Slice, name string) int {
	for i := range s.Object.Spec.Devices {
		if s.Object.Spec.Devices[i].Name == name {
			return i
		}
	}
	return 0
}
