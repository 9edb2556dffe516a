package fit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// located is a device that a node can use.
type located struct {
	*device.Unit
	pool *device.PoolStock
}

// unitsOn are the devices that a node can use, whether their pool serves or not.
func (c *Checker) unitsOn(node *corev1.Node) []located {
	var out []located
	for _, p := range c.poolsOf(node) {
		for _, g := range p.Groups {
			if reaches, _ := g.Place.Reaches(node.Name, node); !reaches {
				continue
			}
			for _, u := range g.Devices {
				out = append(out, located{u, p})
			}
		}
	}
	return out
}

// diagnose says why the next pod gets no devices on a node: the first request that finds too few, else what keeps the
// requests from being satisfied together.
func (w *world) diagnose(ctx context.Context, ps *podSet, node *corev1.Node) (*Reason, error) {
	claims, of, reason := w.claimsOn(ps, node)
	if reason != nil {
		return reason, nil
	}
	units := w.unitsOn(node)
	if len(units) == 0 {
		return &Reason{Code: NoDevices, Text: "no devices are published for the node"}, nil
	}
	for i := range claims {
		if r := w.short(of[i], units); r != nil {
			return r, nil
		}
	}
	return w.combined(ctx, of, claims, node, units)
}

// short finds the first request of a claim that finds too few devices; of alternatives all must.
func (w *world) short(a *ask, units []located) *Reason {
	var alternatives []*Reason
	parent := -1
	var found *Reason
	flush := func() bool {
		if len(alternatives) == 0 || slices.Contains(alternatives, nil) {
			return false
		}
		found = alternatives[0]
		if len(alternatives) > 1 {
			var texts []string
			for _, r := range alternatives {
				texts = append(texts, r.Request+": "+r.Text)
			}
			found.Text = "no alternative can be satisfied: " + strings.Join(texts, "; ")
		}
		return true
	}
	for r := range requestsOf(a.claim) {
		if r.parent != parent {
			if flush() {
				return found
			}
			parent, alternatives = r.parent, nil
		}
		alternatives = append(alternatives, w.shortOf(a, r, units))
	}
	if flush() {
		return found
	}
	return nil
}

// shortOf counts the devices that a request can have; nil when there are enough.
func (w *world) shortOf(a *ask, r request, units []located) *Reason {
	n := w.count(r, units)
	if n.Eligible >= n.Needed {
		return nil
	}
	out := &Reason{Claim: a.name, Request: r.name, Count: &n.Count}
	if a.extended != "" {
		out.Request = ""
	}
	if n.Matched() < n.Needed {
		out.Code, out.Text = NoMatch, n.noMatch(r)
		return out
	}
	out.HeldBy = n.holders()
	out.Code, out.Text = n.causes()
	return out
}

// tally is a Count with what is told of it.
type tally struct {
	Count
	heldBy   map[cluster.Ref]bool
	problem  string
	taint    string
	shortage *device.Shortage
}

func newTally() *tally { return &tally{heldBy: map[cluster.Ref]bool{}} }

func (n *tally) holders() []cluster.Ref {
	var out []cluster.Ref
	for ref := range n.heldBy {
		out = append(out, ref)
	}
	slices.SortFunc(out, cluster.Ref.Compare)
	return out
}

// count follows the devices through the rules of the allocator, in its order.
func (w *world) count(r request, units []located) *tally {
	n := newTally()
	n.Count = Count{Published: len(units), Needed: int(r.count), Selectors: make([]int, len(r.selectors))}
	for i, row := range w.rows(r) {
		for _, u := range units {
			if match, err := row.Of(u.Slice, u.Index()); !match || err != nil {
				continue
			}
			if i == 0 {
				n.Class++
			} else {
				n.Selectors[i-1]++
			}
			if i == len(r.selectors) {
				w.classify(n, r, u)
			}
		}
	}
	if r.all {
		n.Needed = max(1, n.Matched())
	}
	return n
}

// rows are the matches of the class's selectors, and of these with one more selector of the request after another.
func (c *Checker) rows(r request) []*device.Match {
	class, err := c.classes.Get(r.class)
	if err != nil {
		return nil
	}
	of, more := c.compile(class.Spec.Selectors), c.compile(r.selectors)
	c.inv.Match(of, more) // the finest grouping first: a coarser one would be thrown away
	out := make([]*device.Match, 0, len(more)+1)
	for i := range len(more) + 1 {
		out = append(out, c.inv.Match(of, more[:i]))
	}
	return out
}

func (c *Checker) compile(selectors []resourcev1.DeviceSelector) []*device.Expression {
	var out []*device.Expression
	for _, s := range selectors {
		if s.CEL != nil {
			out = append(out, c.inv.Compile(s.CEL.Expression))
		}
	}
	return out
}

// anyMatch tells that a request matches some device of a pool.
func (c *Checker) anyMatch(p *device.PoolStock, r request) bool {
	rows := c.rows(r)
	if len(rows) == 0 {
		return false
	}
	for _, g := range p.Groups {
		for _, u := range g.Devices {
			if match, _ := rows[len(rows)-1].Of(u.Slice, u.Index()); match {
				return true
			}
		}
	}
	return false
}

// mayFail tells that the selectors of some request can't be evaluated on some device.
func (c *Checker) mayFail(ps *podSet) bool {
	for _, a := range ps.asks.list {
		for r := range requestsOf(a.claim) {
			if rows := c.rows(r); len(rows) > 0 {
				if _, failing := rows[len(rows)-1].Counts(); failing > 0 {
					return true
				}
			}
		}
	}
	return false
}

// classify says what becomes of a device that matches.
func (w *world) classify(n *tally, r request, u located) {
	shares := u.Device().Shareable()
	used := !r.admin && !shares
	switch {
	case u.pool.Problem != "":
		n.Unusable++
		n.problem = cmp.Or(n.problem, "pool "+u.pool.Name+": "+u.pool.Problem)
	case used && w.own[u.ID()]:
		n.Own++
	case used && len(u.Holders()) > 0:
		n.Held++
		for _, h := range u.Holders() {
			n.heldBy[h.Claim.Ref] = true
		}
	case untolerated(u.Taints(), r.tolerations) != "":
		n.Tainted++
		n.taint = cmp.Or(n.taint, untolerated(u.Taints(), r.tolerations))
	case w.shortage(u) != nil:
		n.Short++
		if n.shortage == nil {
			n.shortage = w.shortage(u)
		}
	case !w.hasCapacity(u, r):
		n.Capacity++
	default:
		n.Eligible++
	}
}

func untolerated(taints []resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) string {
	for _, t := range taints {
		if !slices.ContainsFunc(tolerations,
			func(tol resourcev1.DeviceToleration) bool { return resourceclaim.ToleratesTaint(tol, t) }) {
			text := t.Key
			if t.Value != "" {
				text += "=" + t.Value
			}
			return text + ":" + string(t.Effect)
		}
	}
	return ""
}

// shortage is a counter of which too little is left for a device, what earlier pods took included.
func (w *world) shortage(u located) *device.Shortage {
	if len(u.Device().ConsumesCounters) == 0 || len(u.Holders()) > 0 || w.own[u.ID()] {
		return nil // a shared device that is in use has its counters
	}
	return u.pool.Short(u.Unit, w.taken[u.pool])
}

// hasCapacity tells whether the device has the capacity asked for, and if it is shared, has that much left. It does not
// round amounts up as a request policy may.
func (w *world) hasCapacity(u located, r request) bool {
	if r.capacity == nil {
		return true
	}
	shares := u.Device().Shareable()
	for name, asked := range r.capacity.Requests {
		c, ok := u.Device().Capacity[name]
		if !ok {
			return false
		}
		left := c.Value.DeepCopy()
		if shares {
			left.Sub(w.consumed(u.ID(), name))
		}
		if left.Cmp(asked) < 0 {
			return false
		}
	}
	return true
}
