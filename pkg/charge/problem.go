package charge

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/message"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
)

// Codes of problems. They are part of the output contract.
const (
	CodeDRADisabled          = "DRADisabled"
	CodeDirectClaim          = "DirectResourceClaim"
	CodeTemplateNotFound     = "ResourceClaimTemplateNotFound"
	CodeFirstAvailable       = "FirstAvailableUnsupported"
	CodeExactlyMissing       = "ExactlyMissing"
	CodeInvalidSelector      = "InvalidSelector"
	CodeAdminAccess          = "AdminAccessUnsupported"
	CodeAllocationMode       = "AllocationModeUnsupported"
	CodeConstraints          = "ConstraintsUnsupported"
	CodeClaimConfig          = "ClaimConfigUnsupported"
	CodeSelectorsUnsupported = "SelectorsUnsupported"
	CodeDeviceClassNotFound  = "DeviceClassNotFound"
	CodeSelectorFails        = "SelectorFails"
	CodeTooFewDevices        = "TooFewDevices"
	CodeUnmappedClass        = "UnmappedDeviceClass"
	CodeSourceBackedExtended = "ExtendedResourceHasSources"
	CodeFractionalExtended   = "FractionalExtendedResource"
	CodeExtendedOverflow     = "ExtendedResourceOverflow"
	CodeNoCounter            = "CounterNotPublished"
	CodeNoCapacity           = "CapacityNotPublished"
	CodeCapacityPolicy       = "CapacityPolicyUnsatisfiable"
	CodeOrderDependent       = "OrderDependent"
	CodeQueueBlocked         = "QueueBlocked"
	CodeManagerPanics        = "ManagerPanics"
	CodeConfigurationRefused = "ConfigurationRefused"
)

// maxConditionMessage is Kueue's limit for a condition's message, in bytes.
const maxConditionMessage = 32 * 1024

// refusal is a reason for which Kueue refuses a workload.
type refusal struct {
	code string
	// errs are Kueue's field errors; text stands instead when it is no field error.
	errs  field.ErrorList
	text  string
	human string
	// blocked says that a queue is in the way, whether Kueue writes it or not.
	blocked  message.Message
	inactive *queuestate.Cause
	evidence []Evidence
	// others are other texts the version may write.
	others []string
	// retried tells that a change of the object in the way is noticed, when errs do not tell.
	retried bool
}

// refuse records a refusal and ends the device path, as Kueue does. When an earlier step rests on
// missing evidence, the refusal is certain but its words are not: Kueue might have stopped earlier.
func (r *run) refuse(f refusal) {
	r.stopped = true
	if f.code != CodeQueueBlocked {
		r.sets = make([]podSetDevices, len(r.w.PodSets)) // nothing of the devices is charged
	}
	text := f.text
	if len(f.errs) > 0 {
		text = f.errs.ToAggregate().Error()
	}
	p := Problem{
		Blocked: f.blocked, Inactive: f.inactive,
		Code: f.code, Retryable: f.retryable(r.e.cfg.Behavior.DRASpecErrorsPermanent), Message: f.human,
		KueueMessage: truncate(text), Evidence: f.evidence,
	}
	if len(f.others) > 0 {
		p.Possible = append([]string{p.KueueMessage}, f.others...)
	}
	if r.unsure {
		p.KueueMessage, p.Possible = "", append([]string{p.KueueMessage}, f.others...)
	}
	r.out.Problems = append(r.out.Problems, p)
}

// chance records an outcome that the version leaves to an arbitrary order.
func (r *run) chance(message string, possible []string, evidence ...Evidence) {
	r.unsure = true
	r.out.Problems = append(r.out.Problems,
		Problem{Code: CodeOrderDependent, Retryable: true, Message: message, Possible: possible, Evidence: evidence})
}

// retryable follows Kueue: internal errors are retried, others wait for a change; old versions retry every field error.
func (f refusal) retryable(permanent bool) bool {
	if len(f.errs) == 0 {
		return f.retried
	}
	if !permanent {
		return true
	}
	for _, e := range f.errs {
		if e.Type == field.ErrorTypeInternal {
			return true
		}
	}
	return false
}

func truncate(text string) string {
	if len(text) <= maxConditionMessage {
		return text
	}
	const tail = " ..."
	return text[:maxConditionMessage-len(tail)] + tail
}

func itoa(i int) string { return strconv.Itoa(i) }

// at is evidence in the pod template of pod set i; path is relative to the template.
func (r *run) at(i int, path, value string) Evidence {
	ps := &r.w.PodSets[i]
	if ps.Source == nil {
		return Evidence{Ref: r.w.OwnerRef, Path: path, Value: value}
	}
	return Evidence{Object: ps.Source, Ref: ps.Source.Ref, Path: join(ps.Path, path), Value: value}
}

func join(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case path == "":
		return prefix
	}
	return prefix + "." + path
}

// object is evidence in an object of the snapshot.
func object(o *cluster.Object, path, value string) Evidence {
	if o == nil {
		return Evidence{}
	}
	return Evidence{Object: o, Ref: o.Ref, Path: path, Value: value}
}

// configEvidence points into the Kueue configuration.
func (r *run) configEvidence(path, value string) Evidence {
	return Evidence{Ref: r.e.cfg.Ref, Origin: r.e.cfg.Origin, Path: path, Value: strings.TrimSpace(value)}
}
