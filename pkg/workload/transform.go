package workload

import (
	"fmt"
	"maps"
	"slices"

	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
)

// transformed is one resource after the transformations.
type transformed struct {
	name        corev1.ResourceName
	value       resource.Quantity
	transformed bool
	steps       []string
	others      []resource.Quantity
	// kept is what the pod requests itself of it.
	kept resource.Quantity
}

// transform applies resources.transformations in one pass: outputs are never inputs again. A
// multiplyBy resource that the pod does not request counts as one. Excluded resources are not charged themselves;
// whether they take part in a transformation differs by release.
func transform(in corev1.ResourceList, excluded []corev1.ResourceName, cfg *config.Config) []transformed {
	t := transformation{in: in, excluded: excluded, cfg: cfg, generated: map[corev1.ResourceName][]product{},
		kept: corev1.ResourceList{}}
	rules := map[corev1.ResourceName]*configapi.ResourceTransformation{}
	if r := cfg.Configuration.Resources; r != nil {
		for i := range r.Transformations {
			rules[r.Transformations[i].Input] = &r.Transformations[i]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		drop := slices.Contains(excluded, name)
		if rule, ok := rules[name]; ok && (!drop || cfg.Behavior.ExcludedInputTransformed) {
			t.apply(name, rule)
		} else if !drop {
			t.kept[name] = in[name]
		}
	}
	return t.result()
}

type transformation struct {
	in        corev1.ResourceList
	excluded  []corev1.ResourceName
	cfg       *config.Config
	generated map[corev1.ResourceName][]product
	kept      corev1.ResourceList
}

// product is what one input contributes to an output.
type product struct {
	value resource.Quantity
	from  corev1.ResourceName
	step  string
}

func (t *transformation) apply(name corev1.ResourceName, rule *configapi.ResourceTransformation) {
	b := t.cfg.Behavior
	requested := t.in[name]
	base, times := requested, ""
	if by, ok := t.multiplier(rule.MultiplyBy); ok {
		base = multiply(requested, by, b.TransformExactDecimal)
		times = fmt.Sprintf(" × %s %s", by.String(), rule.MultiplyBy)
	}
	for _, output := range slices.Sorted(maps.Keys(rule.Outputs)) {
		factor := rule.Outputs[output]
		t.generated[output] = append(t.generated[output], product{
			value: multiply(factor, base, b.TransformExactDecimal),
			from:  name,
			step:  fmt.Sprintf("transformation of %s %s%s × %s", requested.String(), name, times, factor.String()),
		})
	}
	if ptr.Deref(rule.Strategy, configapi.Retain) == configapi.Retain && !slices.Contains(t.excluded, name) {
		if b.RetainUnmultiplied {
			t.kept[name] = requested
		} else {
			t.kept[name] = base
		}
	}
}

// multiplier is the request that a rule multiplies by, if there is one.
func (t *transformation) multiplier(name corev1.ResourceName) (resource.Quantity, bool) {
	if name == "" || slices.Contains(t.excluded, name) && !t.cfg.Behavior.ExcludedMultiplierMultiplies {
		return resource.Quantity{}, false
	}
	by, ok := t.in[name]
	return by, ok
}

func (t *transformation) result() []transformed {
	names := map[corev1.ResourceName]bool{}
	for n := range t.kept {
		names[n] = true
	}
	for n := range t.generated {
		names[n] = true
	}
	var out []transformed
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, t.one(name))
	}
	return out
}

func (t *transformation) one(name corev1.ResourceName) transformed {
	r := transformed{name: name}
	kept, isKept := t.kept[name]
	products := t.generated[name]
	if isKept {
		r.value, r.kept = kept.DeepCopy(), kept.DeepCopy()
	}
	if len(products) == 0 {
		return r
	}
	r.transformed = true
	var sum resource.Quantity
	for _, p := range products {
		sum.Add(p.value)
		r.steps = append(r.steps, p.step)
	}
	if t.cfg.Behavior.TransformClampNegative && sum.Sign() < 0 {
		sum = resource.Quantity{}
		r.steps = append(r.steps, "below zero, so 0")
	}
	if isKept && !t.cfg.Behavior.TransformSumOutputs {
		r.others = overwrites(name, kept, products)
	}
	r.value.Add(sum)
	if isKept {
		r.steps = append(r.steps, fmt.Sprintf("+ %s requested", kept.String()))
	}
	if len(r.others) > 0 &&
		!slices.ContainsFunc(r.others, func(q resource.Quantity) bool { return q.Cmp(r.value) == 0 }) {
		// The full sum can't come out when the request itself is always written last.
		r.value = r.others[0]
	}
	r.others = slices.DeleteFunc(r.others, func(q resource.Quantity) bool { return q.Cmp(r.value) == 0 })
	return r
}

// overwrites lists every value that older versions may compute for a resource that is both kept and
// generated: the kept request replaces what was generated before it and is added to afterwards. A
// product of the resource itself always comes before its own request.
func overwrites(name corev1.ResourceName, kept resource.Quantity, products []product) []resource.Quantity {
	values := []resource.Quantity{kept.DeepCopy()}
	for _, p := range products {
		if p.from == name {
			continue
		}
		for _, v := range slices.Clone(values) {
			sum := v.DeepCopy()
			sum.Add(p.value)
			if !slices.ContainsFunc(values, func(q resource.Quantity) bool { return q.Cmp(sum) == 0 }) {
				values = append(values, sum)
			}
		}
		if len(values) > maxAlternatives {
			break
		}
	}
	return values
}

// maxAlternatives bounds the values listed for one resource.
const maxAlternatives = 64

// multiply multiplies as exact decimals, or, in versions before that was fixed, by the second
// quantity rounded up to an integer.
func multiply(a, b resource.Quantity, exact bool) resource.Quantity {
	if !exact {
		product := a.DeepCopy()
		product.Mul(b.Value())
		return product
	}
	x, y := a.DeepCopy(), b.DeepCopy()
	d := new(inf.Dec).Mul(x.AsDec(), y.AsDec())
	return *resource.NewDecimalQuantity(*d, a.Format)
}
