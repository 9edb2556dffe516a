package fit

import (
	"context"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// Whatever is published and claimed, there is an answer, and all of its pods have devices where it says so.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(counted))
	f.Add([]byte(pool("n1", gpu("a-0", "big", 0, ", taints: [{key: xid, effect: NoSchedule}]"), "{name: b}")))
	f.Add([]byte(held("x", "n1", "", "whole") + "---\n" + counted))
	f.Add([]byte(template("one", `{name: r}`, "")))
	f.Add([]byte(template("one", `{name: r, exactly: {deviceClassName: gpu, count: -1, selectors: [{}]}}`, "      constraints: [{}]\n")))
	f.Add([]byte(slice("s", "n1", 1, "nodeSelector: {nodeSelectorTerms: [{}, {}]}", "  devices: [{name: x, consumesCounters: [{counterSet: g, counters: {m: {value: -1}}}]}]\n")))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := cluster.NewBuilder(nil)
		for i, part := range [][]byte{[]byte(nodes + "---\n" + classes + "---\n" + templates), text} {
			if err := source.ReadBytes(context.Background(), string(rune('a'+i))+".yaml", part, b.Sink(cluster.InputOptions{})); err != nil {
				return
			}
		}
		snap := b.Build()
		w := &workload.Workload{Namespace: "team"}
		for o := range cluster.All[*resourcev1.ResourceClaimTemplate](snap, cluster.ResourceClaimTemplate) {
			w.PodSets = append(w.PodSets, pods(o.Ref.Name, 1, "gpu="+o.Ref.Name))
		}
		c := New(snap, device.NewInventory(snap, selector.Newest), Options{Limit: 200 * time.Millisecond})
		for _, ps := range w.PodSets {
			r := c.Check(context.Background(), &workload.Workload{Namespace: "team", PodSets: []workload.PodSet{ps}}, nil)
			for _, set := range r.PodSets {
				if r.Verdict == Fits && set.Holding+set.Placed < set.Count {
					t.Errorf("%s", said(r))
				}
			}
		}
	})
}
