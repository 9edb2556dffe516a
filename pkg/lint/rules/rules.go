// Package rules holds the program's lint rules, one file for each, and their fixtures in testdata.
//
// To add a rule, write gqNNN_name.go with one variable of type *lint.Rule, name it in [All], and give it at least one
// bad and one good fixture in testdata/gqNNN. A bad fixture says on the line of each finding what it wants:
//
//	deviceClassName: free.example.com # want GQ101 "is not mapped" on "free.example.com"
package rules

import (
	"slices"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// All returns the rules by ID. The slice is the caller's.
func All() []*lint.Rule {
	return slices.Concat(ofLinting(), ofConfiguration(), ofDevices(), ofWorkloads(), ofQueues(), ofShape())
}

func ofLinting() []*lint.Rule {
	return []*lint.Rule{
		unreadableDocument,
		lint.SuppressionWithoutReason,
		lint.UnusedSuppression,
		lint.RuleFailed,
	}
}

func ofConfiguration() []*lint.Rule {
	return []*lint.Rule{
		unmappedDeviceClass,
		mappingNotCovered,
		deadQuota,
		extendedNameOfSources,
		configurationRefused,
		sourcesGateOff,
		unknownGate,
		operatorDrift,
		changedAfterStart,
		countersSummed,
		transformedTwice,
		prefixDoesNotExclude,
		integrationOff,
		sharedExtendedName,
		namespaceNotManaged,
	}
}

func ofDevices() []*lint.Rule {
	return []*lint.Rule{
		counterNotPublished,
		nameForm,
		ambiguousCounter,
		selectorDoesNotCompile,
		selectorFails,
		unguardedAttribute,
		attributeAsDomain,
		quantityCompared,
		noDeviceMatches,
		fewerDevices,
		poolIncomplete,
		sliceWithoutDevices,
		nearMiss,
		capacityNotPublished,
		notShareable,
		unknownDriver,
		countedTwice,
		apiLimits,
		capacityPolicy,
		deviceClassMissing,
	}
}

func ofWorkloads() []*lint.Rule {
	return []*lint.Rule{
		directClaim,
		allocationModeAll,
		firstAvailable,
		templateMissing,
		claimUnused,
		claimUndeclared,
		limitOnly,
		sidecarUndercharged,
		constraintsAndConfig,
		adminAccess,
		fractional,
		bothWays,
		neverFits,
		resourceNotCovered,
		queueMissing,
		devicesWithTopology,
		implicitName,
		admittedPiecewise,
		claimsNotCharged,
		stuckWorkload,
		requestAboveLimit,
		extendedRequestAndLimit,
		outsideLimitRange,
		refused,
		admissionGated,
	}
}

func ofQueues() []*lint.Rule {
	return []*lint.Rule{
		flavorMissing,
		clusterQueueMissing,
		noSuitableFlavor,
		queueRefused,
		quotaUnit,
		quotaBelowDevice,
		quotaAboveDevices,
		cohortCycle,
		preemptionPolicy,
		admissionCheckMissing,
		strictFIFOBlocked,
		namespaceSelector,
		queueStopped,
	}
}

func ofShape() []*lint.Rule {
	return []*lint.Rule{
		apiVersion,
		unknownField,
		countersWithDevices,
		definedTwice,
	}
}
