// Scans that end by chance.

package admission

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// endScansByChance lets heads of BestEffortFIFO queues go on whose scan over flavors begins anew for ever because every
// attempt writes another message. Where an arbitrary order decides which of several short resources is named, attempts
// one after the other name the same one some time; then no message is written, the scan comes to its end, and those
// behind the head are tried. It reports whether there is such a head. Each gets one chance in an epoch.
func (r *run) endScansByChance(queues []*queue) bool {
	if r.behavior.PreserveScanProgress || r.behavior.ResourceOrder != release.GoMap {
		return false
	}
	found := false
	for _, q := range queues {
		wl := q.pending.head()
		if q.strict || wl == q.pending.sticky || wl.luckyEnd.epoch == r.epoch+1 {
			continue
		}
		wl.luckyEnd = luckyEnd{epoch: r.epoch + 1, message: r.commonMessage(wl)}
		if wl.luckyEnd.message != "" {
			wl.luckyEnd.attempts = wl.attempts() + 2
			found, r.chances.endedScans[wl] = true, true
		}
	}
	return found
}

// luckyEnd is that of a workload to see its scan of flavors through.
type luckyEnd struct {
	// epoch it is for, plus one; zero for none.
	epoch int
	// message that every attempt writes.
	message string
	// attempts that are left.
	attempts int
}

// commonMessage is a message that all attempts of a scan over flavors may write but the last, which sets the workload
// aside whatever it writes; empty where there is none, and where the scan does not end so.
func (r *run) commonMessage(wl *schedulerWorkload) string {
	saved := wl.position
	defer func() { wl.position = saved }()
	wl.position = nil
	var common []string
	for i := range wl.attempts() {
		a, ts := r.attempt(wl, nil)
		if a.mode() == Fit || len(ts) > 0 {
			return ""
		}
		if wl.position = a.last; !wl.position.pending() {
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

// putLuckyMessageFirst puts the message that ends a workload's scan by chance in front of the others.
func (n *entry) putLuckyMessageFirst() {
	c := &n.workload.luckyEnd
	if c.attempts == 0 {
		return
	}
	c.attempts--
	if i := slices.Index(n.messages, c.message); i > 0 {
		n.messages = slices.Concat([]string{c.message}, n.messages[:i], n.messages[i+1:])
	}
}
