package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
)

const (
	// settleFor is how long a workload must not change to be looked at again: Kueue writes several times in a row.
	settleFor = 300 * time.Millisecond
	// rereadEvery is the shortest pause between two readings of the cluster.
	rereadEvery = time.Second
)

// errInterrupted ends a watch that the user has ended.
var errInterrupted = errors.New("interrupted before everything was admitted")

// watchExplain explains again whenever Kueue has changed one of the workloads asked for, until all are admitted.
func watchExplain(ctx context.Context, env Env, o *options) error {
	if !o.leadsToCluster() {
		return errNoInput
	}
	if err := o.setNamespace(); err != nil {
		return err
	}
	var shown []byte
	for {
		pause := time.NewTimer(rereadEvery)
		changes, err := followWorkloads(ctx, o)
		if err != nil {
			return err
		}
		s, items, err := explainAll(ctx, env, o)
		if err != nil {
			changes.Stop()
			return err
		}
		text, err := s.render(env, o, items)
		if err == nil && !bytes.Equal(text, shown) {
			shown, err = text, showNext(env, text, len(shown) > 0 && o.output == "")
		}
		if err == nil && !settled(items) {
			err = awaitChange(ctx, changes, concerning(items))
		} else if err == nil {
			err = errSettled
		}
		changes.Stop()
		switch {
		case errors.Is(err, errSettled):
			return nil
		case ctx.Err() != nil:
			return errInterrupted
		case err != nil:
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return errInterrupted
		}
	}
}

// errSettled ends a watch that has nothing to wait for any more.
var errSettled = errors.New("nothing to wait for")

// render prints an explanation into memory, and returns the error it would end with.
func (s *scene) render(env Env, o *options, items []*explain.Explanation) ([]byte, error) {
	var out bytes.Buffer
	aside := env
	aside.Out = &out
	printer, err := o.newPrinter(env)
	if err != nil {
		return nil, err
	}
	again := *o
	again.printer = printer
	err = s.finish(aside, &again, s.document(items))
	return out.Bytes(), err
}

func showNext(env Env, text []byte, apart bool) error {
	if apart {
		text = append([]byte("\n"), text...)
	}
	if _, err := env.Out.Write(text); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// settled tells whether there is nothing to wait for: everything is admitted, has ended, or is not Kueue's.
func settled(items []*explain.Explanation) bool {
	return !slices.ContainsFunc(items, func(x *explain.Explanation) bool {
		done := x.Reported.State == explain.Admitted || x.Reported.State == explain.Finished
		return !done && x.Charge.Verdict != charge.Unmanaged
	})
}

// concerning tells whether a changed Workload is one of those explained, or the first one of their jobs.
func concerning(items []*explain.Explanation) func(metav1.Object) bool {
	workloads, jobs := map[identity]bool{}, map[identity]bool{}
	for _, x := range items {
		w := x.Charge.Workload
		workloads[identityOf(w.Ref())] = true
		jobs[identityOf(w.OwnerRef)] = true
	}
	return func(o metav1.Object) bool {
		if workloads[identity{cluster.Workload, o.GetNamespace(), o.GetName()}] {
			return true
		}
		return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return jobs[identityOf(cluster.Ref{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: o.GetNamespace(),
				Name: r.Name})]
		})
	}
}

// followWorkloads watches the metadata of Workloads from now on, in a version that is served.
func followWorkloads(ctx context.Context, o *options) (watch.Interface, error) {
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to read from: %w", err)
	}
	config = rest.CopyConfig(config)
	// A watch is open for as long as it lasts; --request-timeout is about the answers to single questions.
	timeout := config.Timeout
	config.Timeout = 0
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("no cluster to read from: %w", err)
	}
	kind, _ := cluster.FindKind(cluster.Workload)
	for _, version := range kind.Versions {
		resource := schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: kind.Resource}
		workloads := client.Resource(resource).Namespace(o.namespace)
		var list *metav1.PartialObjectMetadataList
		if list, err = latest(ctx, workloads, timeout); apierrors.IsNotFound(err) {
			continue
		}
		var changes watch.Interface
		if err == nil {
			changes, err = workloads.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		}
		if err != nil {
			return nil, fmt.Errorf("cannot watch Workloads: %w", err)
		}
		return changes, nil
	}
	return nil, errors.New("cannot watch Workloads: the cluster serves none, so Kueue is not installed there")
}

// latest lists as little as possible: only the version of the list is of interest.
func latest(ctx context.Context, workloads metadata.ResourceInterface,
	timeout time.Duration) (*metav1.PartialObjectMetadataList, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return workloads.List(ctx, metav1.ListOptions{Limit: 1})
}

// awaitChange waits until a Workload of interest has changed and is quiet for a moment. It also returns when
// the server has ended the watch, as it does from time to time: then there may have been a change.
func awaitChange(ctx context.Context, changes watch.Interface, interesting func(metav1.Object) bool) error {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-quiet:
			return nil
		case event, open := <-changes.ResultChan():
			if !open || event.Type == watch.Error {
				return nil
			}
			if o, ok := event.Object.(metav1.Object); ok && interesting(o) {
				quiet = time.After(settleFor)
			}
		}
	}
}
