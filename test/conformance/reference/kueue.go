package reference

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
)

// manager is Kueue's manager process, assembled as its main function does, less the machinery that runs it.
type manager struct {
	ctx       context.Context
	store     *store
	clock     *testingclock.FakeClock
	recorder  *recorder
	formatter *resources.ResourceFormatter
	// slowJobs decides which evicted jobs stop between two cycles; nil stops all.
	slowJobs *rand.Rand

	cache     *schdcache.Cache
	queues    *qcache.Manager
	requeuer  interface{ ProcessRequeues(context.Context) int }
	scheduler *scheduler.Scheduler

	workloads     *core.WorkloadReconciler
	clusterQueues *core.ClusterQueueReconciler
	localQueues   *core.LocalQueueReconciler
	flavors       *core.ResourceFlavorReconciler
	cohorts       *core.CohortReconciler
	checks        *core.AdmissionCheckReconciler
	deviceClasses *dra.ExtendedResourceCache
}

// errBlockAdmission marks what the reference does not run: the scheduler would wait for pods that never come.
var errBlockAdmission = errors.New("waitForPodsReady.blockAdmission is not run by the reference")

func newManager(configuration *configapi.Configuration, now time.Time) (*manager, error) {
	if wait := configuration.WaitForPodsReady; wait != nil && wait.BlockAdmission != nil && *wait.BlockAdmission {
		return nil, errBlockAdmission
	}
	m := &manager{
		ctx:       logr.NewContext(context.Background(), logr.Discard()),
		store:     newStore(),
		clock:     testingclock.NewFakeClock(now),
		recorder:  &recorder{},
		formatter: resources.NewResourceFormatter(),
	}
	mapper, err := m.deviceMapper(configuration)
	if err != nil {
		return nil, err
	}
	m.assemble(configuration, mapper)
	return m, nil
}

func (m *manager) deviceMapper(configuration *configapi.Configuration) (*dra.ResourceMapper, error) {
	if !features.Enabled(features.KueueDRAIntegration) {
		return nil, nil
	}
	mapper := dra.NewResourceMapper()
	m.deviceClasses = dra.NewExtendedResourceCache()
	if configuration.Resources == nil || len(configuration.Resources.DeviceClassMappings) == 0 {
		return mapper, nil
	}
	if err := mapper.PopulateFromConfiguration(configuration.Resources.DeviceClassMappings); err != nil {
		return nil, fmt.Errorf("deviceClassMappings: %w", err)
	}
	for _, name := range append(mapper.CounterBasedResourceNames(), mapper.CapacityBasedResourceNames()...) {
		m.formatter.RegisterBinaryFormattedResource(name)
	}
	return mapper, nil
}

func (m *manager) assemble(configuration *configapi.Configuration, mapper *dra.ResourceMapper) {
	cacheOptions := []schdcache.Option{schdcache.WithResourceFormatter(m.formatter)}
	queueOptions := []qcache.Option{qcache.WithResourceFormatter(m.formatter), qcache.WithClock(m.clock)}
	quotaCheck := configapi.QuotaCheckStrategy("")
	if r := configuration.Resources; r != nil {
		cacheOptions = append(cacheOptions, schdcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes),
			schdcache.WithResourceTransformations(r.Transformations))
		queueOptions = append(queueOptions, qcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes),
			qcache.WithResourceTransformations(r.Transformations))
		if r.QuotaCheckStrategy != nil {
			quotaCheck = *r.QuotaCheckStrategy
		}
	}
	if configuration.FairSharing != nil {
		cacheOptions = append(cacheOptions, schdcache.WithFairSharing(fairsharing.Enabled(configuration.FairSharing)))
	}
	preemptions := expectations.New()
	queueOptions = append(queueOptions, qcache.WithPreemptionExpectations(preemptions))
	if m.deviceClasses != nil {
		queueOptions = append(queueOptions, qcache.WithDRABackedResources(m.deviceClasses))
	}
	m.cache = schdcache.New(m.store, cacheOptions...)
	m.queues, m.requeuer = qcache.NewManagerForUnitTestsWithRequeuer(m.store, m.cache, queueOptions...)
	m.scheduler = scheduler.New(m.queues, m.cache, m.store, m.recorder,
		scheduler.WithFairSharing(configuration.FairSharing),
		scheduler.WithQuotaCheckStrategy(quotaCheck),
		scheduler.WithClock(nil, m.clock),
		scheduler.WithPreemptionExpectations(preemptions),
		scheduler.WithResourceFormatter(m.formatter))
	setAdmissionRoutineWrapper(m.scheduler, inline{})

	m.flavors = core.NewResourceFlavorReconciler(m.store, m.queues, m.cache, nil)
	m.checks = core.NewAdmissionCheckReconciler(m.store, m.queues, m.cache, nil)
	m.localQueues = core.NewLocalQueueReconciler(m.store, m.queues, m.cache)
	m.cohorts = core.NewCohortReconciler(m.store, m.cache, m.queues)
	m.clusterQueues = core.NewClusterQueueReconciler(m.store, m.queues, m.cache)
	m.workloads = core.NewWorkloadReconciler(m.store, m.queues, m.cache, m.recorder, append(workloadOptions(),
		core.WithPreemptionExpectations(preemptions),
		core.WithDRAMapper(mapper),
		core.WithDRABackedResources(m.deviceClasses),
		core.WithResourceFormatter(m.formatter))...)
}

// load brings in everything but the Workloads, as the watches of a starting manager do.
func (m *manager) load(cluster *objects.Cluster) error {
	for _, object := range cluster.Objects {
		if _, workload := object.(*kueue.Workload); !workload {
			m.store.add(object)
		}
	}
	for _, class := range objects.Of[*resourcev1.DeviceClass](cluster) {
		if name := class.Spec.ExtendedResourceName; name != nil && m.deviceClasses != nil {
			m.deviceClasses.Add(corev1.ResourceName(*name), class.Name)
		}
	}
	for _, flavor := range objects.Of[*kueue.ResourceFlavor](cluster) {
		m.flavors.Create(event.TypedCreateEvent[*kueue.ResourceFlavor]{Object: flavor.DeepCopy()})
	}
	for _, check := range objects.Of[*kueue.AdmissionCheck](cluster) {
		m.checks.Create(event.TypedCreateEvent[*kueue.AdmissionCheck]{Object: check.DeepCopy()})
	}
	for _, cohort := range objects.Of[*kueue.Cohort](cluster) {
		m.updateCohort(cohort.Name)
	}
	for _, queue := range objects.Of[*kueue.ClusterQueue](cluster) {
		m.clusterQueues.Create(event.TypedCreateEvent[*kueue.ClusterQueue]{Object: queue.DeepCopy()})
	}
	for _, queue := range objects.Of[*kueue.LocalQueue](cluster) {
		m.localQueues.Create(event.TypedCreateEvent[*kueue.LocalQueue]{Object: queue.DeepCopy()})
	}
	return m.updateClusterQueues()
}

// updateClusterQueues lets Kueue bring the status of the ClusterQueues up to date. A change of it makes the
// Cohort controller handle every Cohort object above the queue, as on a change of its quota; with that comes
// another chance for what is parked in the whole tree.
func (m *manager) updateClusterQueues() error {
	var queues kueue.ClusterQueueList
	if err := m.store.List(m.ctx, &queues); err != nil {
		return err
	}
	for _, queue := range queues.Items {
		if _, err := m.clusterQueues.Reconcile(m.ctx, request("", queue.Name)); err != nil {
			return fmt.Errorf("cluster queue %s: %w", queue.Name, err)
		}
	}
	for _, change := range m.store.takeQueueChanges() {
		m.clusterQueues.Update(event.TypedUpdateEvent[*kueue.ClusterQueue]{ObjectOld: change.before,
			ObjectNew: change.after})
		ancestors, _ := m.cache.ClusterQueueAncestors(change.after) // an error means a cycle: nothing to handle
		for _, ancestor := range ancestors {
			m.updateCohort(string(ancestor))
		}
	}
	return nil
}

// updateCohort ignores the error that a cycle of Cohorts gives, as the controller's work queue does.
func (m *manager) updateCohort(name string) {
	_, _ = m.cohorts.Reconcile(m.ctx, request("", name))
}

func request(namespace, name string) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}
