package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
)

// store stands in for the API server and the manager's informer cache. It implements the part of
// client.Client that Kueue uses on the way of a Workload; a call of anything else is a bug and panics.
// Every change of a Workload is remembered, for the events to be delivered later.
type store struct {
	client.Client

	mu      sync.Mutex
	scheme  *runtime.Scheme
	objects map[reflect.Type]map[types.NamespacedName]client.Object
	order   map[reflect.Type][]types.NamespacedName
	changes []change
	queues  []queueChange
}

// change is one write to a Workload.
type change struct {
	before, after *kueue.Workload
}

// queueChange is one write to a ClusterQueue.
type queueChange struct {
	before, after *kueue.ClusterQueue
}

// indexes are the field indexes that Kueue's manager registers, as far as lists by field occur here.
func indexes() map[string]client.IndexerFunc {
	return map[string]client.IndexerFunc{
		indexer.WorkloadQueueKey:                     indexer.IndexWorkloadQueue,
		indexer.WorkloadClusterQueueKey:              indexer.IndexWorkloadClusterQueue,
		indexer.QueueClusterQueueKey:                 indexer.IndexQueueClusterQueue,
		indexer.LimitRangeHasContainerOrPodType:      indexer.IndexLimitRangeHasContainerOrPodType,
		indexer.OwnerReferenceUID:                    indexer.IndexOwnerUID,
		indexer.WorkloadQuotaReservedKey:             indexer.IndexWorkloadQuotaReserved,
		indexer.WorkloadExtendedResourceKey:          indexer.IndexWorkloadExtendedResources,
		indexer.DeviceClassExtendedResourceNameIndex: indexer.IndexDeviceClassExtendedResourceName,
		"spec.driver": func(object client.Object) []string {
			return []string{object.(*resourcev1.ResourceSlice).Spec.Driver}
		},
	}
}

func newStore() *store {
	return &store{
		scheme:  objects.NewScheme(),
		objects: map[reflect.Type]map[types.NamespacedName]client.Object{},
		order:   map[reflect.Type][]types.NamespacedName{},
	}
}

// Scheme is part of client.Client.
func (s *store) Scheme() *runtime.Scheme { return s.scheme }

// takeChanges hands over the changes since the last call. Evictions of one cycle are issued in parallel, so
// the changes of different Workloads are put in order; those of one Workload are in order already.
func (s *store) takeChanges() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.changes
	s.changes = nil
	slices.SortStableFunc(taken, func(a, b change) int { return objects.CompareKeys(a.after, b.after) })
	return taken
}

// takeQueueChanges hands over the changes of ClusterQueues since the last call.
func (s *store) takeQueueChanges() []queueChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.queues
	s.queues = nil
	return taken
}

// add stores an object as it is, without an event.
func (s *store) add(object client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(object)
}

func (s *store) put(object client.Object) {
	kind, key := reflect.TypeOf(object), client.ObjectKeyFromObject(object)
	if s.objects[kind] == nil {
		s.objects[kind] = map[types.NamespacedName]client.Object{}
	}
	if _, known := s.objects[kind][key]; !known {
		s.order[kind] = append(s.order[kind], key)
	}
	s.objects[kind][key] = object.DeepCopyObject().(client.Object)
}

// Get is part of client.Client.
func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, err := s.find(key, into)
	if err != nil {
		return err
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(stored.DeepCopyObject()).Elem())
	return nil
}

func (s *store) find(key client.ObjectKey, like client.Object) (client.Object, error) {
	if stored, ok := s.objects[reflect.TypeOf(like)][key]; ok {
		return stored, nil
	}
	return nil, apierrors.NewNotFound(s.resource(like), key.Name)
}

func (s *store) resource(object client.Object) schema.GroupResource {
	kinds, _, err := s.scheme.ObjectKinds(object)
	if err != nil {
		panic(fmt.Sprintf("conformance: Kueue asked for an unexpected type: %v", err))
	}
	// The manager reads through a cache, whose "not found" names the kind, not the resource.
	return schema.GroupResource{Group: kinds[0].Group, Resource: kinds[0].Kind}
}

// List is part of client.Client: by namespace, labels and the indexes above.
func (s *store) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wanted client.ListOptions
	wanted.ApplyOptions(options)
	kind, err := s.itemType(list)
	if err != nil {
		return err
	}
	var found []runtime.Object
	for _, key := range s.order[kind] {
		object := s.objects[kind][key]
		if wanted.Namespace != "" && object.GetNamespace() != wanted.Namespace || !matchesFields(object, &wanted) {
			continue
		}
		found = append(found, object.DeepCopyObject())
	}
	return apimeta.SetList(list, found)
}

func (s *store) itemType(list client.ObjectList) (reflect.Type, error) {
	items, ok := reflect.TypeOf(list).Elem().FieldByName("Items")
	if !ok {
		return nil, fmt.Errorf("%T has no items", list)
	}
	return reflect.PointerTo(items.Type.Elem()), nil
}

func matchesFields(object client.Object, wanted *client.ListOptions) bool {
	if wanted.FieldSelector == nil {
		return true
	}
	for _, requirement := range wanted.FieldSelector.Requirements() {
		index, ok := indexes()[requirement.Field]
		if !ok {
			panic("conformance: no index for field " + requirement.Field)
		}
		if !slices.Contains(index(object), requirement.Value) {
			return false
		}
	}
	return true
}

// Update is part of client.Client: it replaces all but the status.
func (s *store) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return s.write(object, func(stored client.Object) (client.Object, error) {
		updated := object.DeepCopyObject().(client.Object)
		if workload, ok := updated.(*kueue.Workload); ok {
			old := stored.(*kueue.Workload)
			old.Status.DeepCopyInto(&workload.Status)
			if !reflect.DeepEqual(old.Spec, workload.Spec) {
				workload.Generation = old.Generation + 1
			}
		}
		return updated, nil
	})
}

// Status is part of client.Client.
func (s *store) Status() client.SubResourceWriter { return statusWriter{store: s} }

func (s *store) write(object client.Object, apply func(stored client.Object) (client.Object, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, err := s.find(client.ObjectKeyFromObject(object), object)
	if err != nil {
		return err
	}
	updated, err := apply(stored)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(stored, updated) {
		return nil
	}
	switch before := stored.(type) {
	case *kueue.Workload:
		s.changes = append(s.changes, change{before: before.DeepCopy(), after: updated.(*kueue.Workload).DeepCopy()})
	case *kueue.ClusterQueue:
		s.queues = append(s.queues,
			queueChange{before: before.DeepCopy(), after: updated.(*kueue.ClusterQueue).DeepCopy()})
	}
	s.put(updated)
	return nil
}

type statusWriter struct {
	client.SubResourceWriter
	store *store
}

// Update is part of client.SubResourceWriter.
func (w statusWriter) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return w.store.write(object, func(stored client.Object) (client.Object, error) {
		updated := stored.DeepCopyObject().(client.Object)
		source := reflect.ValueOf(object.DeepCopyObject()).Elem().FieldByName("Status")
		reflect.ValueOf(updated).Elem().FieldByName("Status").Set(source)
		return updated, nil
	})
}

// Patch is part of client.SubResourceWriter: an apply patch of a Workload's status, or a merge patch.
func (w statusWriter) Patch(_ context.Context, object client.Object, patch client.Patch,
	_ ...client.SubResourcePatchOption) error {
	if patch.Type() == types.ApplyPatchType {
		applied, ok := object.(*kueue.Workload)
		if !ok {
			return fmt.Errorf("conformance: apply patch of a %T", object)
		}
		return w.store.write(object, func(stored client.Object) (client.Object, error) {
			return applyStatus(stored.(*kueue.Workload), applied)
		})
	}
	body, err := patch.Data(object)
	if err != nil {
		return err
	}
	return w.store.write(object, func(stored client.Object) (client.Object, error) {
		return mergeStatus(stored, body)
	})
}

// applyStatus does what server-side apply does with the patches of Kueue's admission manager: that manager
// owns all of the status but the pods that may be reclaimed, so what a patch leaves out is removed.
// The times it writes lose what the API server would not keep, the fractions of seconds.
func applyStatus(stored, applied *kueue.Workload) (client.Object, error) {
	updated := stored.DeepCopy()
	body, err := json.Marshal(applied.Status)
	if err != nil {
		return nil, err
	}
	updated.Status = kueue.WorkloadStatus{}
	if err := json.Unmarshal(body, &updated.Status); err != nil {
		return nil, err
	}
	updated.Status.ReclaimablePods = stored.Status.ReclaimablePods
	return updated, nil
}

func mergeStatus(stored client.Object, patch []byte) (client.Object, error) {
	before, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, err
	}
	updated := reflect.New(reflect.TypeOf(stored).Elem()).Interface().(client.Object)
	return updated, json.Unmarshal(after, updated)
}
