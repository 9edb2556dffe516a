package device

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Kind is what people call a device by: the attributes that drivers name models and partitions with. An attribute that
// a device lacks is empty.
type Kind struct {
	Driver string
	// Type as the driver puts it: gpu, mig, vfio.
	Type string
	// Model of the hardware.
	Model string
	// Profile of a partition.
	Profile string
}

// Compare orders kinds by driver, model, type and profile, numbers in a profile by their size.
func (k Kind) Compare(o Kind) int {
	return cmp.Or(cmp.Compare(k.Driver, o.Driver), cmp.Compare(k.Model, o.Model), cmp.Compare(k.Type, o.Type),
		slices.Compare(numbersIn(k.Profile), numbersIn(o.Profile)), cmp.Compare(k.Profile, o.Profile))
}

// numbersIn are the numbers of a name: of 1g.10gb 1 and 10.
func numbersIn(name string) []int64 {
	var out []int64
	for _, digits := range strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Names of attributes by what they tell, the first one that a device has counts. They are those of the drivers of
// NVIDIA, AMD and Intel, and of the Kubernetes project's example driver.
var (
	typeNames    = []string{"type"}
	modelNames   = []string{"productName", "model", "product"}
	profileNames = []string{"profile", "partitionProfile"}
)

// kindOf reads the kind of a device of a slice.
func kindOf(spec *cluster.DeviceSliceSpec, d *cluster.Device) Kind {
	k := Kind{Driver: spec.Driver, Type: stringAttribute(spec.Driver, d, typeNames),
		Model: stringAttribute(spec.Driver, d, modelNames)}
	if spec.PartitionTypeAttribute != nil {
		k.Profile = stringAttribute(spec.Driver, d, []string{string(*spec.PartitionTypeAttribute)})
	}
	if k.Profile == "" {
		k.Profile = stringAttribute(spec.Driver, d, profileNames)
	}
	return k
}

// stringAttribute is the first of the attributes that the device has as a string. A name without domain is the
// driver's.
func stringAttribute(driver string, d *cluster.Device, names []string) string {
	for _, text := range names {
		n := qualify(resourcev1.QualifiedName(text), driver)
		a := d.Attributes.Get(resourcev1.QualifiedName(n.id))
		if a == nil || n.domain != driver {
			a = d.Attributes.Get(resourcev1.QualifiedName(n.domain + "/" + n.id))
		}
		if a != nil && a.StringValue != nil {
			return *a.StringValue
		}
	}
	return ""
}

// Place is where a device can be used from.
type Place struct {
	// Node is the only one.
	Node string
	// Everywhere: from all nodes.
	Everywhere bool
	// Selector picks the nodes.
	Selector *corev1.NodeSelector
}

// String is the name of the node, or says in parentheses which nodes.
func (p Place) String() string {
	switch {
	case p.Node != "":
		return p.Node
	case p.Everywhere:
		return "(all nodes)"
	case p.Selector != nil:
		return "(" + selectorText(p.Selector) + ")"
	}
	return "(no node)"
}

// placeOf is where a device of a slice can be used from.
func placeOf(spec *cluster.DeviceSliceSpec, d *cluster.Device) Place {
	name, all, selector := spec.NodeName, spec.AllNodes, spec.NodeSelector
	if spec.PerDeviceNodeSelection != nil && *spec.PerDeviceNodeSelection {
		name, selector, all = d.Nodes()
	}
	switch {
	case name != nil && *name != "":
		return Place{Node: *name}
	case all != nil && *all:
		return Place{Everywhere: true}
	}
	return Place{Selector: selector}
}

// Reaches tells whether the device can be used from a node. known is false where that depends on the labels of a node
// that is not at hand (nil).
func (p Place) Reaches(name string, node *corev1.Node) (reaches, known bool) {
	switch {
	case p.Node != "" || p.Selector == nil:
		return p.Node == name && name != "" || p.Everywhere, true
	case node == nil:
		return false, false
	}
	selector, err := nodeaffinity.NewNodeSelector(p.Selector)
	if err != nil {
		return false, true // the scheduler takes no device of such a slice
	}
	return selector.Match(node), true
}

// selectorText writes a node selector as kubectl writes label selectors; terms are alternatives.
func selectorText(s *corev1.NodeSelector) string {
	var terms []string
	for _, t := range s.NodeSelectorTerms {
		var parts []string
		for _, r := range t.MatchExpressions {
			parts = append(parts, requirementText(r))
		}
		for _, r := range t.MatchFields {
			parts = append(parts, requirementText(r))
		}
		terms = append(terms, strings.Join(parts, ","))
	}
	return strings.Join(terms, " or ")
}

func requirementText(r corev1.NodeSelectorRequirement) string {
	values := strings.Join(r.Values, ",")
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 1 {
			return r.Key + "=" + values
		}
		return r.Key + " in (" + values + ")"
	case corev1.NodeSelectorOpNotIn:
		return r.Key + " notin (" + values + ")"
	case corev1.NodeSelectorOpExists:
		return r.Key
	case corev1.NodeSelectorOpDoesNotExist:
		return "!" + r.Key
	case corev1.NodeSelectorOpGt:
		return r.Key + ">" + values
	case corev1.NodeSelectorOpLt:
		return r.Key + "<" + values
	}
	return r.Key + " " + string(r.Operator) + " " + values
}
