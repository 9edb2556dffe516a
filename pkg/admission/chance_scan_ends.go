// Scans that end by chance.

package admission

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// wayOut lets heads of BestEffortFIFO queues go on whose scan over flavors begins anew for ever because every attempt writes
// another message. Where an arbitrary order decides which of several short resources is named, attempts one after the other
// name the same one some time; then no message is written, the scan comes to its end, and those behind the head are tried.
// It reports whether there is such a head. Each gets one chance in an epoch.
func (r *run) wayOut(queues []*queue) bool {
	if r.behavior.PreserveScanProgress || r.behavior.ResourceOrder != release.GoMap {
		return false
	}
	found := false
	for _, q := range queues {
		it := q.line.head()
		if q.strict || it == q.line.sticky || it.luck.epoch == r.epoch+1 {
			continue
		}
		it.luck = luck{epoch: r.epoch + 1, message: r.throughout(it)}
		if it.luck.message != "" {
			it.luck.attempts = it.attempts() + 2
			found, r.lucky[it] = true, true
		}
	}
	return found
}

// luck is that of a workload to see its scan of flavors through.
type luck struct {
	// epoch it is for, plus one; zero for none.
	epoch int
	// message that every attempt writes.
	message string
	// attempts that are left.
	attempts int
}

// throughout is a message that all attempts of a scan over flavors may write but the last, which sets the workload aside
// whatever it writes; empty where there is none, and where the scan does not end so.
func (r *run) throughout(it *item) string {
	saved := it.last
	defer func() { it.last = saved }()
	it.last = nil
	var common []string
	for i := range it.attempts() {
		a, ts := r.attempt(it, nil)
		if a.mode() == Fit || len(ts) > 0 {
			return ""
		}
		if it.last = a.last; !it.last.pending() {
			if len(common) == 0 {
				return ""
			}
			return common[0]
		}
		may := a.messages()
		if i > 0 {
			may = slices.DeleteFunc(may, func(m string) bool { return !slices.Contains(common, m) })
		}
		common = may
		if len(common) == 0 {
			return ""
		}
	}
	return ""
}

// byChance puts the message that a workload with luck writes in front of the others.
func (n *nominee) byChance() {
	c := &n.it.luck
	if c.attempts == 0 {
		return
	}
	c.attempts--
	if i := slices.Index(n.messages, c.message); i > 0 {
		n.messages = slices.Concat([]string{c.message}, n.messages[:i], n.messages[i+1:])
	}
}
