package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var operatorDrift = &lint.Rule{
	ID: "GQ108", Name: "operator-drift", Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "OpenShift's Kueue resource and the manager's ConfigMap disagree, or a framework is void",
		Why: "The operator of the Red Hat build writes the manager's ConfigMap from the Kueue resource. Where the " +
			"two differ the operator has not done so yet, or somebody changed the ConfigMap: what charges workloads " +
			"now is not what the resource says, and the operator overwrites the ConfigMap. A framework the operator " +
			"does not know becomes an empty name, with which the manager does not start.",
		Bad: "kind: Kueue\nspec: {config: {integrations: {frameworks: [BatchJob, JaxJob]}}}   # the operator has " +
			"no name for JaxJob\n",
		Good:  "kind: Kueue\nspec: {config: {integrations: {frameworks: [BatchJob]}}}\n",
		Since: "Red Hat build of Kueue 1.0",
		Links: []string{"https://docs.redhat.com/en/documentation/red_hat_build_of_kueue/"},
	},
	Check: func(p *lint.Pass) {
		resource := operatorResource(p)
		if resource == nil || p.Config.Operator == nil {
			return
		}
		if i := p.Config.Operator.Integrations; i != nil {
			for k, name := range i.Frameworks {
				if name == "" {
					p.Report(lint.Diagnostic{At: lint.At(resource,
						fmt.Sprintf("spec.config.integrations.frameworks[%d]", k)), Severity: lint.Error,
						Message: "the operator has no name for this framework: it writes an empty one, with which " +
							"Kueue does not start", Help: "remove it"})
				}
			}
		}
		if p.Config.Ref.GroupKind() == cluster.ConfigMap {
			reportDrift(p, resource, p.Config.Operator, p.Config.Configuration)
		}
	},
}

// operatorResource is the resource the operator obeys.
func operatorResource(p *lint.Pass) *cluster.Object {
	if o := p.Snapshot.Get(cluster.OpenShiftKueue, "", "cluster"); o != nil {
		return o
	}
	if all := p.Snapshot.List(cluster.OpenShiftKueue); len(all) == 1 {
		return all[0]
	}
	return nil
}

func reportDrift(p *lint.Pass, resource *cluster.Object, says, runs *configapi.Configuration) {
	report := func(field, there string, message string) {
		p.Report(lint.Diagnostic{At: p.Configured(field).Name(), Cause: lint.At(resource, there).Name(),
			Message: message,
			Related: []lint.Place{lint.At(resource, there).Name().Saying("what the operator writes it from")},
			Help:    "change the Kueue resource, not the ConfigMap; if the operator is stuck, its log says why"})
	}
	if less, more := apart(frameworksOf(says), frameworksOf(runs)); less+more != "" {
		report("integrations.frameworks", "spec.config.integrations.frameworks",
			"the frameworks are not those of the Kueue resource:"+less+more)
	}
	said, run := mappingsOf(says), mappingsOf(runs)
	if !reflect.DeepEqual(said, run) {
		less, more := apart(mappingNames(said), mappingNames(run))
		if less+more == "" {
			less = " the mappings of the same names differ"
		}
		report("resources.deviceClassMappings", "spec.config.resources.deviceClassMappings",
			"the device class mappings are not those of the Kueue resource:"+less+more)
	}
	if says.ManageJobsWithoutQueueName != runs.ManageJobsWithoutQueueName {
		report("manageJobsWithoutQueueName", "spec.config.workloadManagement.labelPolicy",
			fmt.Sprintf("manageJobsWithoutQueueName is %t, and the Kueue resource asks for %t",
				runs.ManageJobsWithoutQueueName, says.ManageJobsWithoutQueueName))
	}
}

func frameworksOf(c *configapi.Configuration) []string {
	if c.Integrations == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Integrations.Frameworks), func(name string) bool { return name == "" })
}

func mappingsOf(c *configapi.Configuration) []configapi.DeviceClassMapping {
	if c.Resources == nil || len(c.Resources.DeviceClassMappings) == 0 {
		return nil
	}
	return c.Resources.DeviceClassMappings
}

func mappingNames(all []configapi.DeviceClassMapping) []string {
	var out []string
	for _, m := range all {
		out = append(out, string(m.Name))
	}
	return out
}

// apart says what only one of two lists holds.
func apart(said, run []string) (less, more string) {
	var missing, added []string
	for _, name := range said {
		if !slices.Contains(run, name) {
			missing = append(missing, name)
		}
	}
	for _, name := range run {
		if !slices.Contains(said, name) {
			added = append(added, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(added)
	if len(missing) > 0 {
		less = " without " + strings.Join(missing, ", ")
	}
	if len(added) > 0 {
		more = " with " + strings.Join(added, ", ") + " besides"
	}
	return less, more
}
