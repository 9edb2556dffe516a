package charge

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/recorded"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Engine charges the workloads of one snapshot. It is not safe for concurrent use.
type Engine struct {
	snap     *cluster.Snapshot
	cfg      *config.Config
	inv      *device.Inventory
	requests *workload.Requester

	// byExtendedName lists the DeviceClasses that declare an extended resource name, by class name.
	byExtendedName map[corev1.ResourceName][]*cluster.Object
	claims         map[types.NamespacedName]*claimTemplate
	queues         *queuestate.Queues
	absences       map[attestation]bool
	byOwnName      map[corev1.ResourceName]bool
	answers        map[sourceKey]*sourceAnswer
	mapped         map[string]Evidence // by class
}

// NewEngine prepares an engine: it tells the inventory which counters and capacities are charged and
// which expressions will be evaluated, so that devices are grouped once.
func NewEngine(snap *cluster.Snapshot, cfg *config.Config, inv *device.Inventory) *Engine {
	e := &Engine{
		snap: snap, cfg: cfg, inv: inv,
		requests:       workload.NewRequester(snap, cfg),
		byExtendedName: map[corev1.ResourceName][]*cluster.Object{},
		claims:         map[types.NamespacedName]*claimTemplate{},
		queues:         queuestate.New(snap, cfg),
		absences:       attestedAbsences(snap),
		byOwnName:      chargedByName(snap),
		answers:        map[sourceKey]*sourceAnswer{},
		mapped:         map[string]Evidence{},
	}
	var counters []string
	var dimensions []resourcev1.QualifiedName
	for o, class := range cluster.All[*resourcev1.DeviceClass](snap, cluster.DeviceClass) {
		inv.Expect(class.Spec.Selectors)
		if n := class.Spec.ExtendedResourceName; n != nil && *n != "" {
			name := corev1.ResourceName(*n)
			e.byExtendedName[name] = append(e.byExtendedName[name], o)
		}
	}
	for _, s := range cfg.Sources() {
		if s.Capacity {
			dimensions = append(dimensions, resourcev1.QualifiedName(s.Name))
		} else {
			counters = append(counters, s.Name)
		}
		if s.Selector != "" {
			inv.Expect([]resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: s.Selector}}})
		}
	}
	for _, t := range cluster.All[*resourcev1.ResourceClaimTemplate](snap, cluster.ResourceClaimTemplate) {
		for _, q := range t.Spec.Spec.Devices.Requests {
			if q.Exactly != nil {
				inv.Expect(q.Exactly.Selectors)
			}
		}
	}
	inv.Charge(counters, dimensions)
	return e
}

// Config returns the configuration the engine charges by.
func (e *Engine) Config() *config.Config { return e.cfg }

// Queues says of the queues of the snapshot whether they take workloads.
func (e *Engine) Queues() *queuestate.Queues { return e.queues }

// Snapshot returns the objects the engine charges.
func (e *Engine) Snapshot() *cluster.Snapshot { return e.snap }

// Charge says what the workload is charged now, from its spec, whatever its status says.
func (e *Engine) Charge(w *workload.Workload) *Charge {
	r := &run{e: e, w: w, out: &Charge{Workload: w, Verdict: Charged, Total: Amounts{}}}
	r.out.ClusterQueue = e.clusterQueue(w)
	r.out.Published = published(w.Object)
	if !w.State.MakesWorkload() && w.State != workload.Undetermined {
		r.out.Verdict = Unmanaged
		return r.out
	}
	r.missing(w.Missing...)
	r.configurationRefused()
	if !e.cfg.Found {
		r.missing(cluster.KueueConfiguration.Kind)
	}
	for i := range w.PodSets {
		r.pods = append(r.pods, e.requests.PodSet(w.Namespace, &w.PodSets[i]))
	}
	r.sets = make([]podSetDevices, len(w.PodSets))
	r.devices()
	r.merge()
	r.queueBlocker()
	r.verdict()
	return r.out
}

// Charges charges all workloads, in order.
func (e *Engine) Charges(ws []*workload.Workload) []*Charge {
	out := make([]*Charge, len(ws))
	for i, w := range ws {
		out[i] = e.Charge(w)
	}
	return out
}

// clusterQueue is the ClusterQueue of the workload's LocalQueue, or of its admission when that LocalQueue is not in the
// input.
func (e *Engine) clusterQueue(w *workload.Workload) string {
	if lq, _, ok := cluster.Lookup[*kueue.LocalQueue](e.snap, cluster.LocalQueue, w.Namespace, w.Queue); ok {
		return string(lq.Spec.ClusterQueue)
	}
	if w.Object != nil && w.Object.Status.Admission != nil {
		return string(w.Object.Status.Admission.ClusterQueue)
	}
	return ""
}

// run is the charging of one workload.
type run struct {
	e    *Engine
	w    *workload.Workload
	out  *Charge
	pods []workload.PodRequests
	sets []podSetDevices
	// stopped tells that Kueue's own computation ended with an error; nothing later was looked at.
	stopped bool
	// unsure tells that an outcome depends on missing evidence or chance, so later errors are certain
	// refusals with uncertain words.
	unsure bool
}

// podSetDevices collects what devices add to one pod of a pod set.
type podSetDevices struct {
	lines []draLine
	// replaced are extended resource names that the DeviceClass path charges, with the amount per pod that it took
	// over.
	replaced map[corev1.ResourceName]resource.Quantity
}

// missing records kinds whose absence keeps the charge unknown.
func (r *run) missing(kinds ...string) {
	for _, k := range kinds {
		if !slices.Contains(r.out.Missing, k) {
			r.out.Missing = append(r.out.Missing, k)
		}
	}
	slices.Sort(r.out.Missing)
}

func (r *run) note(text string) {
	if !slices.Contains(r.out.Notes, text) {
		r.out.Notes = append(r.out.Notes, text)
	}
}

// verdict decides from what was found. A certain refusal stands whatever else is missing, unless it
// is not even certain that Kueue manages the job, or the refusal rests on a configuration that is not
// in the input.
func (r *run) verdict() {
	refused, chance := false, r.w.State == workload.Undetermined
	for _, p := range r.out.Problems {
		switch {
		case p.Code == CodeOrderDependent, p.Code == CodeConfigurationRefused, p.Code != CodeQueueBlocked &&
			!r.e.cfg.Found:
			chance = true
		default:
			refused = true
		}
	}
	switch {
	case refused && r.w.State != workload.Undetermined:
		r.out.Verdict = Inadmissible
	case chance || len(r.out.Missing) > 0:
		r.out.Verdict = Unknown
	}
}

// configurationRefused tells that Kueue does not start with this configuration: then it decides nothing,
// or what runs was configured otherwise.
func (r *run) configurationRefused() {
	if text := r.e.cfg.Refusal(); text != "" {
		r.unsure = true
		r.out.Problems = append(r.out.Problems, Problem{
			Code: CodeConfigurationRefused, Message: "Kueue " + r.e.cfg.Version +
				" refuses to start with this configuration, so what it would charge is not known: " + text,
			Evidence: []Evidence{r.configEvidence("", "")},
		})
	}
}

// published sums the usage that Kueue recorded at admission, as it stands there.
func published(w *kueue.Workload) map[corev1.ResourceName]string {
	sum := recorded.Total(w)
	if sum == nil {
		return nil
	}
	out := make(map[corev1.ResourceName]string, len(sum))
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		q := sum[name]
		out[name] = q.String()
	}
	return out
}
