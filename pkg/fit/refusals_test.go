package fit

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestWhyPodsGetNoDevices(t *testing.T) {
	small := pool("n1", gpu("a-0", "small", 0, ""), gpu("a-1", "small", 1, ""))
	runCases(t, map[string]fitCase{
		"no device of the class": {documents: with(small), work: work(pods("main", 1, "gpu=other")), want: `
DoesNotFit
main: 0 of 1
  n1 NoMatch: DeviceClass other matches none of 2 devices
  n2 NoDevices: no devices are published for the node`},
		"a selector matches none": {documents: with(small), work: work(pods("main", 1, "gpu=big")), want: `
DoesNotFit
main: 0 of 1
  n1 NoMatch: selector 1 matches none of the 2 devices that DeviceClass gpu matches: device.attributes["d"].size == "big"
  n2 NoDevices: no devices are published for the node`},
		"fewer than are asked for": {documents: with(pool("n1", gpu("a-0", "small", 0, "")), pool("n2", gpu("b-0", "small", 0, ""))), work: work(pods("main", 1, "gpu=two")), want: `
DoesNotFit
main: 0 of 1
  n1,n2 NoMatch: 1 of 1 devices match, 2 are needed`},
		"all held by claims": {documents: with(small, held("x", "n1", "", "a-0"), "---\n"+held("y", "n1", "", "a-1")), work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1 Allocated: 2 of 2 devices match; 0 can be had, 1 is needed: 2 held by claims; ResourceClaim team/x; ResourceClaim team/y
  n2 NoDevices: no devices are published for the node`},
		"by its own earlier pods": {documents: with(small), work: work(pods("main", 3, "gpu=one")), want: `
DoesNotFit
main: 2 of 3
  n1 a-0
  n1 a-1
  n1 Allocated: 2 of 2 devices match; 0 can be had, 1 is needed: 2 given to earlier pods of the workload
  n2 NoDevices: no devices are published for the node`},
		"a counter set is exhausted": {documents: with(counted, held("x", "n1", "", "whole")), work: work(pods("main", 1, "gpu=half")), want: `
DoesNotFit
main: 0 of 1
  n1 Counters: 3 of 4 devices match; 0 can be had, 1 is needed: 3 short of counters (g: memory needs 20Gi, 0 left)
  n2 NoDevices: no devices are published for the node`},
		"a counter set is exhausted by earlier pods": {documents: with(counted), work: work(pods("main", 3, "gpu=half")), want: `
DoesNotFit
main: 2 of 3
  n1 half-0
  n1 half-1
  n1 Allocated: 3 of 4 devices match; 0 can be had, 1 is needed: 2 given to earlier pods of the workload, 1 short of counters (g: memory needs 20Gi, 0 left)
  n2 NoDevices: no devices are published for the node`},
		"counters suffice for each, not for all": {documents: with(strings.ReplaceAll(counted, "memory: {value: 40Gi}", "memory: {value: 30Gi}")), work: work(pods("main", 1, "gpu=halves")), want: `
DoesNotFit
main: 0 of 1
  n1 Together: each request finds enough devices, but not all of them at once: those that match take each other's counters
  n2 NoDevices: no devices are published for the node`},
		"the pool is incomplete": {documents: with(slice("n1", "n1", 2, "nodeName: n1", "  devices: ["+gpu("a-0", "big", 0, "")+"]\n")), work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1 PoolUnusable: 1 of 1 devices match; 0 can be had, 1 is needed: 1 can't be used (pool n1: incomplete: 1 of 2 slices are published)
  n2 NoDevices: no devices are published for the node`},
		"the pool is invalid": {documents: with(pool("n1", gpu("a-0", "big", 0, ""), gpu("a-0", "big", 0, ""))), work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1 PoolUnusable: 2 of 2 devices match; 0 can be had, 1 is needed: 2 can't be used (pool n1: invalid: device a-0 is published twice)
  n2 NoDevices: no devices are published for the node`},
		"the devices are tainted": {documents: with(pool("n1", gpu("a-0", "big", 0, ", taints: [{key: xid, value: '79', effect: NoSchedule}]"))), work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1 Tainted: 1 of 1 devices match; 0 can be had, 1 is needed: 1 tainted xid=79:NoSchedule
  n2 NoDevices: no devices are published for the node`},
		"a rule taints them": {documents: with(pool("n1", gpu("a-0", "big", 0, ""), gpu("a-1", "big", 0, "")),
			"apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: all}\nspec: {deviceSelector: {}, taint: {key: maintenance, effect: NoSchedule}}\n"), work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1 Tainted: 2 of 2 devices match; 0 can be had, 1 is needed: 2 tainted maintenance:NoSchedule
  n2 NoDevices: no devices are published for the node`},
		"too little capacity": {documents: with(pool("n1", gpu("a-0", "big", 0, ", capacity: {memory: {value: 20Gi}}"), gpu("a-1", "big", 0, ""))), work: work(pods("main", 1, "gpu=memory")), want: `
DoesNotFit
main: 0 of 1
  n1 Capacity: 2 of 2 devices match; 0 can be had, 1 is needed: 2 with too little capacity left
  n2 NoDevices: no devices are published for the node`},
		"a constraint can't be met": {documents: with(small), work: work(pods("main", 1, "gpu=near")), want: `
DoesNotFit
main: 0 of 1
  n1 Constraint: constraint matchAttribute d/numa can't be met by 2 devices; devices that could be had by value: 0: 1, 1: 1
  n2 NoDevices: no devices are published for the node`},
		"no alternative": {documents: with(small), work: work(pods("main", 1, "gpu=either")), want: `
DoesNotFit
main: 0 of 1
  n1 NoMatch: no alternative can be satisfied: r/b: selector 1 matches none of the 2 devices that DeviceClass gpu matches: device.attributes["d"].size == "big"; r/s: 2 of 2 devices match, 3 are needed
  n2 NoDevices: no devices are published for the node`},
		"all devices, one of them held": {documents: with(small, held("x", "n1", "", "a-0")), work: work(pods("main", 1, "gpu=all")), want: `
DoesNotFit
main: 0 of 1
  n1 Allocated: 2 of 2 devices match; 1 can be had, 2 are needed: 1 held by claims; ResourceClaim team/x
  n2 NoDevices: no devices are published for the node`},
		"the scheduler gives up, although another node would do": {documents: with(pool("n1", gpu("a-0", "big", 0, "")), pool("n2", "{name: b-0}")), work: work(pods("main", 1, "gpu=big")), want: `
DoesNotFit
main: 0 of 1
  n2 Failed: the scheduler gives up on the pod: claim team/gpu: selector #0 on device d/n2/b-0: CEL runtime error: no such key: size. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields`},
		"the pod's node selector": {documents: with(small), work: work(changed(pods("main", 1, "gpu=one"), func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"gpu": "b"} })), want: `
DoesNotFit
main: 0 of 1
  n1 NodeSelector: the node lacks labels of the pod's node selector: gpu=b
  n2 NoDevices: no devices are published for the node`},
		"the labels of its flavor": {documents: with(small, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: fb}\nspec: {nodeLabels: {gpu: b}}\n"),
			work: work(pods("main", 1, "gpu=one")), assigned: map[string]Assignment{"main": {Flavors: []string{"fb"}}}, want: `
DoesNotFit
main: 0 of 1
  n1 NodeSelector: the node is not of flavor fb, whose nodes have the labels gpu=b
  n2 NoDevices: no devices are published for the node`},
		"a taint of the node": {documents: append([]string{strings.Replace(nodes, "gpu: a}}", "gpu: a}}\nspec: {taints: [{key: drain, effect: NoSchedule}]}", 1), classes, templates, noClaims}, small),
			work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1 NodeTaint: the node has a taint that the pod does not tolerate: drain:NoSchedule
  n2 NoDevices: no devices are published for the node`},
		"devices of a node that does not exist": {documents: with(pool("n9", gpu("a-0", "big", 0, ""))), work: work(pods("main", 1, "gpu=one")), want: `
DoesNotFit
main: 0 of 1
  n1,n2 NoDevices: no devices are published for the node
  n9 NodeMissing: devices are published for it, but there is no such node`},
		"a number of devices below zero": {documents: with(small, template("minus", "{name: r, exactly: {deviceClassName: gpu, count: -1}}", "")), work: work(pods("main", 1, "gpu=minus")), want: `
DoesNotFit
main: 0 of 1
   ObjectMissing: request r of claim gpu asks for -1 devices`},
		"a request of no kind": {documents: with(small, template("odd", "{name: r}", "")), work: work(pods("main", 1, "gpu=odd")), want: `
DoesNotFit
main: 0 of 1
   ObjectMissing: request r of claim gpu has neither exactly nor firstAvailable`},
		"a class that does not exist": {documents: with(small), work: work(pods("main", 1, "gpu=nowhere")), want: `
DoesNotFit
main: 0 of 1
   ObjectMissing: DeviceClass nowhere, which request r of claim gpu asks for, does not exist`},
		"a template that does not exist": {documents: with(small), work: work(pods("main", 1, "gpu=absent")), want: `
DoesNotFit
main: 0 of 1
   ObjectMissing: ResourceClaimTemplate team/absent does not exist`},
		"a claim that is allocated elsewhere": {documents: with(small, held("c", "n2", "    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]}\n", "b-0")),
			work: work(pods("main", 1, "gpu=@c", "more=one")), want: `
DoesNotFit
main: 0 of 1
  n1 ClaimElsewhere: claim gpu (ResourceClaim c) is allocated where this node can't use it
  n2 NoDevices: no devices are published for the node`},
	})
}
