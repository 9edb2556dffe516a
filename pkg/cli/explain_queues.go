package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

// defaultPending is how many workloads are listed of each queue.
const defaultPending = 20

// queueFlagUsage explains --queue.
const queueFlagUsage = "take the workloads of this queue: clusterqueue/NAME, localqueue/NAME, or NAME for both; " +
	"repeatable"

func isQueue(gk schema.GroupKind) bool { return gk == cluster.ClusterQueue || gk == cluster.LocalQueue }

// splitQueues tells the queues among the targets from the workloads.
func splitQueues(targets []target) (queues, workloads []target) {
	for _, t := range targets {
		if isQueue(t.kind) {
			queues = append(queues, t)
		} else {
			workloads = append(workloads, t)
		}
	}
	return queues, workloads
}

// parseQueues reads the values of --queue as targets that select workloads.
func parseQueues(values []string) ([]target, error) {
	var out []target
	for _, text := range values {
		kind, name, typed := strings.Cut(text, "/")
		if !typed {
			out = append(out, target{cluster.ClusterQueue, text}, target{cluster.LocalQueue, text})
			name = text
		} else if gk, err := kindNamed(typeNames(), kind); err == nil && isQueue(gk) {
			out = append(out, target{gk, name})
		} else {
			return nil, fmt.Errorf("--queue %s: write clusterqueue/NAME, localqueue/NAME or NAME", text)
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("--queue %q names no queue", text)
		}
	}
	return out, nil
}

// selectQueues takes the values of --queue.
func (o *options) selectQueues(values []string) error {
	var err error
	o.within, err = parseQueues(values)
	return err
}

// checkQueues says what does not go together with the explanation of queues.
func checkQueues(o *options, queues, workloads []target, watch bool) error {
	switch {
	case len(workloads) > 0:
		return fmt.Errorf("%s is a queue and %s is not; explain queues and workloads one at a time", queues[0],
			workloads[0])
	case watch:
		return errors.New("--watch follows workloads, not queues; to follow those of a queue: explain --queue NAME " +
			"--watch")
	case !o.labels.Empty():
		return errors.New("--selector selects workloads, and a queue is explained with all of its; for some of them: " +
			"explain --queue NAME --selector LABELS")
	}
	return nil
}

// runExplainQueues explains queues: whether they are active, what they use, who waits, and what the first waits for.
func runExplainQueues(ctx context.Context, env Env, o *options, targets []target, most int) error {
	o.everywhere = true
	s, err := load(ctx, env, o)
	if err != nil {
		return err
	}
	objects, missing := queueObjects(s.snap, o, targets)
	engine := s.decider(s.allCharges())
	explainer, trees := remedy.New(explain.New(s.snap, s.conf, engine)), engine.Trees()
	unknown := 0
	var items []*explain.Queue
	for _, object := range objects {
		q := explainer.Queue(object, trees, most)
		if q.Verdict == explain.QueueUnknown || !q.Known || q.Tree == nil || q.Head != nil &&
			q.Head.Predicted.State == explain.Unknown {
			unknown++
		}
		items = append(items, q)
	}
	if missing != nil && len(items) == 0 {
		return missing
	}
	err = s.finishWith(env, o, report.NewQueueExplanations(s.conf, trees, items),
		errIncomplete{unknown: unknown, what: "queues that are not known in full"})
	if err == nil {
		return missing
	}
	return err
}

// queueObjects finds the queues, by kind, namespace and name. The error names those that are not there.
func queueObjects(snap *cluster.Snapshot, o *options, targets []target) ([]*cluster.Object, error) {
	var out []*cluster.Object
	var missing []error
	for _, gk := range []schema.GroupKind{cluster.ClusterQueue, cluster.LocalQueue} {
		for _, object := range snap.List(gk) {
			inside := gk == cluster.ClusterQueue || o.namespace == "" || o.showsAll ||
				object.Ref.Namespace == o.namespace
			if inside &&
				slices.ContainsFunc(targets,
					func(t target) bool { return t.kind == gk && (t.name == "" || t.name == object.Ref.Name) }) {
				out = append(out, object)
			}
		}
	}
	for _, t := range targets {
		if t.name != "" && !slices.ContainsFunc(out, func(object *cluster.Object) bool {
			return object.Ref.GroupKind() == t.kind && object.Ref.Name == t.name
		}) {
			missing = append(missing, notFound(snap, t, o))
		}
	}
	return out, errors.Join(missing...)
}
