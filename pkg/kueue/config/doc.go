// Package config resolves the effective configuration of Kueue: its version and what that version does
// (a [release.Behavior] with the feature gates applied), its device class mappings, transformations,
// integrations and namespace selection.
//
// In: a cluster.Snapshot (a Configuration document, the manager's ConfigMap and Deployment, the
// OpenShift Kueue and FeatureGate resources) and the user's flags. Out: a [Config], which says
// where each fact came from and what was assumed, and every reason for which that version of Kueue
// would refuse to start, in Kueue's own words.
package config
