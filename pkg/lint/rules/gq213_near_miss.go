package rules

import (
	"fmt"
	"regexp"

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
		Why: "A GPU sold with 80 GB publishes a little less than 80Gi (an H100 has 81559Mi, 80Gi are 81920Mi). A selector for \"at " +
			"least 80Gi\" leaves out the very devices it is meant for.",
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
	missed, example := 0, lint.Place{}
	for slice, d := range p.Inventory().All() {
		for name, c := range d.Capacity {
			if domain, id := device.Qualify(name, slice.Object.Spec.Driver); domain != u.Domain || id != u.ID {
				continue
			}
			short := threshold.Value() - c.Value.Value()
			if short <= 0 || short > threshold.Value()/nearness {
				continue
			}
			if missed++; missed == 1 {
				example = lint.At(slice.Record, fmt.Sprintf("spec.devices[%d].capacity[%q].value", indexOf(slice, d.Name), name)).Saying("just below")
				example.Value = c.Value.String()
			}
		}
	}
	if missed == 0 {
		return
	}
	p.Report(lint.Diagnostic{At: s.At, Related: []lint.Place{example},
		Message: fmt.Sprintf("%s leaves out %s with %s of %s, just below it", u.Literal, plural(missed, "device"), example.Value, u.ID),
		Help:    "if these are meant, take a lower threshold, or select by another attribute"})
}

func indexOf(s *device.Slice, name string) int {
	for i := range s.Object.Spec.Devices {
		if s.Object.Spec.Devices[i].Name == name {
			return i
		}
	}
	return 0
}
