// Package rules holds the program's lint rules, one file for each, and their fixtures in testdata.
//
// To add a rule, write gqNNN_name.go with one variable of type *lint.Rule, name it in [All], and give it at least one
// bad and one good fixture in testdata/gqNNN. A bad fixture says on the line of each finding what it wants:
//
//	deviceClassName: free.example.com # want GQ101 "is not mapped" on "free.example.com"
package rules

import "github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"

// All returns the rules by ID. The slice is the caller's.
func All() []*lint.Rule {
	return []*lint.Rule{
		unreadableDocument,
		lint.RuleFailed,
		unmappedDeviceClass,
		mappingNotCovered,
		deadQuota,
		extendedNameOfSources,
		configurationRefused,
		sourcesGateOff,
		unknownGate,
		transformedTwice,
		prefixDoesNotExclude,
		integrationOff,
		sharedExtendedName,
		namespaceNotManaged,
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
		capacityPolicy,
		deviceClassMissing,
		directClaim,
		allocationModeAll,
		firstAvailable,
		templateMissing,
		claimUnused,
		claimUndeclared,
		limitOnly,
		adminAccess,
		fractional,
		neverFits,
		resourceNotCovered,
		queueMissing,
		implicitName,
		claimsNotCharged,
		stuckWorkload,
		requestAboveLimit,
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
		apiVersion,
		unknownField,
	}
}
