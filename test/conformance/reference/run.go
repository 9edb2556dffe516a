package reference

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
	"github.com/gpu-quota/kubectl-gpu-quota/test/outcome"
)

// DefaultMaxCycles is enough for every cluster that settles; preemption can go round without end.
const DefaultMaxCycles = 400

// DefaultPatience is enough for chance to end most repetitions that it may end.
const DefaultPatience = 12

// Options of a run.
type Options struct {
	// Replay takes every status off the Workloads and lets them arrive one at a time.
	Replay bool
	// Next asks in addition what a scheduling attempt of each pending Workload decides, before the run.
	Next bool
	// SlowJobs other than 0 is the seed of a run in which evicted jobs take their time to stop, so that the
	// scheduler runs between one eviction and the next. 0 lets them all stop before the next cycle.
	SlowJobs uint64
	// Idle other than 0 is the seed of a run in which what comes next finds a workload that is tried for ever by turns
	// at any of its turns. 0 lets it come when the turns repeat themselves.
	Idle uint64
	// Patience is how many repetitions of a state are seen through where chance may end them; 0 means DefaultPatience.
	Patience int
	// MaxCycles cuts off a run that does not settle; 0 means DefaultMaxCycles.
	MaxCycles int
}

// Run asks Kueue for its decisions about the cluster, which stays as it is.
func Run(cluster *objects.Cluster, options Options) (result *outcome.Result, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			result, err = &outcome.Result{Kind: "SimulationResult",
				Beyond: fmt.Sprintf("Kueue crashed: %v", crash)}, nil
		}
	}()
	ctrllog.SetLogger(logr.Discard())
	release, err := holdGates(cluster.Configuration.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer release()
	start := cluster.Newest().Add(time.Minute)
	if options.Replay {
		start = cluster.Oldest()
	}
	m, err := newManager(cluster.Configuration, start)
	if err != nil {
		return nil, err
	}
	if options.SlowJobs != 0 {
		m.slowJobs = rand.New(rand.NewPCG(options.SlowJobs, 0))
	}
	if err := m.load(cluster); err != nil {
		return nil, err
	}
	r := &run{
		manager:   m,
		result:    &outcome.Result{Kind: "SimulationResult", Mode: "pending"},
		maxCycles: cmp.Or(options.MaxCycles, DefaultMaxCycles),
		patience:  cmp.Or(options.Patience, DefaultPatience),
		admitted:  map[string]int{},
		messages:  map[string][]string{},
	}
	if options.Idle != 0 {
		r.idle = rand.New(rand.NewPCG(options.Idle, 0))
	}
	m.requeuer.ProcessRequeues(m.ctx) // what the coming of the queues has called for, while nothing waits in them
	if options.Replay {
		r.result.Mode = "replay"
		err = r.replay(cluster)
	} else {
		err = r.present(cluster, options.Next)
	}
	if err != nil {
		return nil, err
	}
	return r.result, r.finish(cluster)
}

type run struct {
	*manager
	result    *outcome.Result
	cycle     int
	maxCycles int
	patience  int
	admitted  map[string]int
	// settled is the state in which the cycles began to repeat themselves, if they did. idle says how often more they
	// do.
	settled string
	idle    *rand.Rand
	// messages holds what a Workload is told by turns while nothing else changes.
	messages map[string][]string
}

// present lets all Workloads in as they are, as a manager that starts finds them.
func (r *run) present(cluster *objects.Cluster, next bool) error {
	for _, wl := range cluster.Arrivals() {
		if err := r.arrive(wl.DeepCopy()); err != nil {
			return err
		}
	}
	if err := r.deliver(); err != nil {
		return err
	}
	r.requeuer.ProcessRequeues(r.ctx) // the queues have counted these Workloads long ago
	if next {
		if err := r.decideEach(cluster); err != nil {
			return err
		}
	}
	return r.settle()
}

func (r *run) replay(cluster *objects.Cluster) error {
	for _, arriving := range cluster.Arrivals() {
		wl := arriving.DeepCopy()
		wl.Status = kueue.WorkloadStatus{}
		// What comes in one second is decided in it, though the run before waited for the batch timer.
		r.clock.SetTime(wl.CreationTimestamp.Time)
		if err := r.arrive(wl); err != nil {
			return err
		}
		if err := r.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle runs cycles until nothing changes, and then what the batch timer would do after its second of
// waiting: it gives the parked Workloads another chance where something happened.
func (r *run) settle() error {
	for {
		if err := r.deliver(); err != nil {
			return err
		}
		if err := r.runCycles(); err != nil || r.result.Unsettled {
			return err
		}
		if err := r.finishSomeEvictions(true); err != nil {
			return err
		}
		r.clock.Step(time.Second)
		if r.requeuer.ProcessRequeues(r.ctx) == 0 && !r.hasFreshHeads() {
			return nil
		}
	}
}

// runCycles runs cycles until no queue has a head, or until the cycles repeat themselves: the head of a
// StrictFIFO queue is tried for ever.
func (r *run) runCycles() error {
	seen := map[string]int{}
	r.settled = ""
	var told []map[string]string
	again := 0
	for r.hasHeads() {
		state := r.fingerprint()
		if first, known := seen[state]; known {
			repeated := r.cycle - len(told) + first
			if r.decided("Admit", repeated) {
				r.result.Unsettled = true // preemption goes round
				return nil
			}
			if ArbitraryOrder && again < r.patience && r.hasPassing() && !r.decided("Preempt", repeated) {
				again++ // chance may yet let the head step aside
				clear(seen)
				told = nil
				continue
			}
			r.rememberMessages(told[first:])
			if still, err := r.repeat(len(told)-first, seen); still || err != nil {
				return err
			}
			clear(seen)
			told = nil
			continue
		}
		seen[state] = len(told)
		if err := r.runCycle(); err != nil {
			return err
		}
		told = append(told, r.pendingMessages())
		if r.cycle >= r.maxCycles {
			r.result.Unsettled = true
			return nil
		}
	}
	r.rememberMessages(nil)
	return nil
}

// repeat runs some more of the cycles that repeat themselves. It reports whether they still did: chance may end a
// repetition.
func (r *run) repeat(period int, seen map[string]int) (bool, error) {
	if r.idle != nil {
		for range r.idle.IntN(period) {
			if err := r.runCycle(); err != nil {
				return false, err
			}
			if _, known := seen[r.fingerprint()]; !known || !r.hasHeads() {
				return false, nil
			}
		}
	}
	r.settled = r.fingerprint()
	return true, nil
}

// hasPassing tells whether a queue that lets others pass has a head.
func (r *run) hasPassing() bool {
	for name, heap := range r.queues.Dump() {
		cq := &kueue.ClusterQueue{}
		if len(heap) > 0 && r.cache.ClusterQueueActive(name) &&
			r.store.Get(r.ctx, request("", string(name)).NamespacedName, cq) == nil &&
			cq.Spec.QueueingStrategy != kueue.StrictFIFO {
			return true
		}
	}
	return false
}

// decided tells whether there was such a decision after a cycle. Who gets quota again and again loses it again and
// again; a preemption alone may repeat itself for ever, where the victim has no owner that would let it go.
func (r *run) decided(decision string, after int) bool {
	for _, cycle := range r.result.Timeline {
		is := func(d outcome.CycleDecision) bool { return d.Decision == decision }
		if cycle.Cycle > after && slices.ContainsFunc(cycle.Decisions, is) {
			return true
		}
	}
	return false
}

// hasHeads says whether the scheduler would get a head; asked without one, it would wait.
func (r *run) hasHeads() bool {
	for name, heap := range r.queues.Dump() {
		if len(heap) > 0 && r.cache.ClusterQueueActive(name) {
			return true
		}
	}
	return false
}

// hasFreshHeads says whether there is a head, and anything has changed since the cycles came to repeat themselves.
func (r *run) hasFreshHeads() bool {
	return r.hasHeads() && r.fingerprint() != r.settled
}

func (r *run) runCycle() error {
	r.cycle++
	schedule(r.scheduler, r.ctx)
	decisions := r.recorder.take()
	r.completeNotes(decisions)
	if err := r.deliver(); err != nil {
		return err
	}
	if err := r.finishSomeEvictions(false); err != nil {
		return err
	}
	r.recorder.take() // evictions are finished between cycles
	for i, decision := range decisions {
		key := decision.Workload.Namespace + "/" + decision.Workload.Name
		if decision.Decision == "Admit" {
			r.admitted[key] = r.cycle
		}
		decisions[i].ClusterQueue = string(r.clusterQueueOf(decision.Workload))
	}
	if len(decisions) > 0 {
		r.result.Timeline = append(r.result.Timeline, outcome.Cycle{Cycle: r.cycle, Decisions: decisions})
	}
	return nil
}

// completeNotes takes from the conditions what the cycle told; in events long texts are cut off.
func (r *run) completeNotes(decisions []outcome.CycleDecision) {
	for i := range decisions {
		d := &decisions[i]
		if d.Decision == "Admit" || d.Decision == "Preempted" {
			continue
		}
		wl := &kueue.Workload{}
		if err := r.store.Get(r.ctx, request(d.Workload.Namespace, d.Workload.Name).NamespacedName, wl); err == nil {
			d.Detail = toldOf(wl)
			d.Decision = pendingDecision(d.Detail)
		}
	}
}

func (r *run) clusterQueueOf(of outcome.Reference) kueue.ClusterQueueReference {
	wl := &kueue.Workload{}
	if err := r.store.Get(r.ctx, request(of.Namespace, of.Name).NamespacedName, wl); err != nil {
		return ""
	}
	name, _ := r.queues.ClusterQueueForWorkload(wl)
	return name
}

// fingerprint describes all that decides the next cycles: who holds quota, who waits where, how far the scan over
// flavors has come, and what a Workload is told: to be told the same again is no event, and v0.19.0 forgets how far
// the scan has come on every event.
func (r *run) fingerprint() string {
	var lines []string
	for _, wl := range r.list() {
		lines = append(lines, fmt.Sprintf("%s %t %t %s", workload.Key(&wl), workload.HasQuotaReservation(&wl),
			apimeta.IsStatusConditionTrue(wl.Status.Conditions, kueue.WorkloadEvicted), toldOf(&wl)))
	}
	for name, heap := range r.queues.Dump() {
		slices.Sort(heap)
		lines = append(lines, fmt.Sprintf("%s heap %v", name, heap))
	}
	for _, name := range r.queues.GetClusterQueueNames() {
		for _, info := range r.queues.PendingWorkloadsInfo(name) {
			if last := info.LastAssignment; last != nil {
				// The scan begins anew where the queue's quota has changed since.
				lines = append(lines,
					fmt.Sprintf("%s scan %v %t", workload.Key(info.Obj), last.LastTriedFlavorIdx,
						last.ClusterQueueGeneration < r.generation(name)))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// generation counts the changes of a queue's quota.
func (r *run) generation(name kueue.ClusterQueueReference) int64 {
	snapshot, err := r.cache.Snapshot(r.ctx)
	if err != nil {
		panic(err) // it only copies
	}
	if cq := snapshot.ClusterQueue(name); cq != nil {
		return cq.AllocatableResourceGeneration
	}
	return 0
}

func (r *run) list() []kueue.Workload {
	var list kueue.WorkloadList
	if err := r.store.List(r.ctx, &list); err != nil {
		panic(err) // a list of everything cannot fail
	}
	return list.Items
}

func (r *run) pendingMessages() map[string]string {
	messages := map[string]string{}
	for _, wl := range r.list() {
		if message := toldOf(&wl); message != "" {
			messages[wl.Namespace+"/"+wl.Name] = message
		}
	}
	return messages
}

func toldOf(wl *kueue.Workload) string {
	if condition := apimeta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadQuotaReserved); condition != nil {
		return condition.Message
	}
	return ""
}

// rememberMessages keeps the messages that alternate in the cycles which would go on for ever.
func (r *run) rememberMessages(told []map[string]string) {
	r.messages = map[string][]string{}
	for _, messages := range told {
		for key, message := range messages {
			if !slices.Contains(r.messages[key], message) {
				r.messages[key] = append(r.messages[key], message)
			}
		}
	}
	for _, messages := range r.messages {
		slices.Sort(messages)
	}
}
