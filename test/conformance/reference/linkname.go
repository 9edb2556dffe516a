package reference

import (
	"context"
	_ "unsafe" // for go:linkname

	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/util/wait"
	"sigs.k8s.io/kueue/pkg/workload"
)

// schedule runs one scheduling cycle. Scheduler.Start would call it in a loop of its own, with pauses.
//
//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal

// getAssignments is the part of a nomination that assigns flavors and finds whom to preempt.
//
//go:linkname getAssignments sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).getAssignments
func getAssignments(s *scheduler.Scheduler, ctx context.Context, wl *workload.Info,
	snap *schdcache.Snapshot) (flavorassigner.Assignment, []*preemption.Target)

// setAdmissionRoutineWrapper replaces the goroutine that writes an admission to the API server.
//
//go:linkname setAdmissionRoutineWrapper sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).setAdmissionRoutineWrapper
func setAdmissionRoutineWrapper(s *scheduler.Scheduler, wrapper routine.Wrapper)

// inline writes admissions before the cycle goes on, so that a cycle leaves nothing running behind it.
type inline struct{}

func (inline) Run(f func()) { f() }
