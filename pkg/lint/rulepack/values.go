package rulepack

// Charge is the variable `charge`: what Kueue charges the workload of an object.
type Charge struct {
	// Verdict is Charged, Inadmissible or Unmanaged.
	Verdict string `cel:"verdict"`
	// Total is what is charged, by quota resource: milli for cpu, else whole units.
	Total map[string]int64 `cel:"total"`
	// Devices counts the devices that all pods ask for, by the name they are asked for: device class or extended
	// resource.
	Devices map[string]int64 `cel:"devices"`
	// Problems are the codes of the reasons for which Kueue refuses the workload.
	Problems []string `cel:"problems"`
	// PodSets of the workload.
	PodSets []PodSet `cel:"podSets"`
	// PriorityClass as Kueue resolves it; empty when there is none.
	PriorityClass string `cel:"priorityClass"`
	Priority      int64  `cel:"priority"`
}

// PodSet is an element of charge.podSets.
type PodSet struct {
	Name  string `cel:"name"`
	Count int64  `cel:"count"`
	// Total over all pods of the set, in the units of Charge.Total.
	Total map[string]int64 `cel:"total"`
}

// Queue is the variable `queue`: where the workload of an object is queued.
type Queue struct {
	// Name of the LocalQueue; empty when the workload names none.
	Name string `cel:"name"`
	// ClusterQueue is empty when the LocalQueue does not exist.
	ClusterQueue string `cel:"clusterQueue"`
	// Exists tells that the ClusterQueue exists. The fields below are empty otherwise.
	Exists     bool   `cel:"exists"`
	Cohort     string `cel:"cohort"`
	StopPolicy string `cel:"stopPolicy"`
	Strategy   string `cel:"strategy"`
	// Nominal is the queue's own quota over all flavors, by resource, in the units of Charge.Total.
	Nominal map[string]int64 `cel:"nominal"`
	// Flavors in the order of the queue.
	Flavors []string `cel:"flavors"`
}

// Cluster is the variable `cluster`.
type Cluster struct {
	// KueueVersion such as v0.19.2.
	KueueVersion string `cel:"kueueVersion"`
	// KubernetesVersion such as 1.36; empty when it is not known.
	KubernetesVersion string `cel:"kubernetesVersion"`
	OpenShift         bool   `cel:"openShift"`
	// FeatureGates of Kueue at their effective values.
	FeatureGates map[string]bool `cel:"featureGates"`
	// Mappings lead from a device class to the quota resource its devices are charged to.
	Mappings map[string]string `cel:"mappings"`
	// NamespaceLabels are the labels of the object's namespace.
	NamespaceLabels map[string]string `cel:"namespaceLabels"`
	// DeviceClasses and ClusterQueues are the names of all of them, sorted.
	DeviceClasses []string `cel:"deviceClasses"`
	ClusterQueues []string `cel:"clusterQueues"`
}
