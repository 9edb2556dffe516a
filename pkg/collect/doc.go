// Package collect makes a dump of a cluster for analysis elsewhere.
//
// In: documents, kind by kind, as [source.ReadLive] hands them over, and the kinds that could not be read.
// Out: a tar.gz with one list for each kind and a [cluster.Collection] that says what is missing, which
// pkg/cluster honours when the dump is read back.
//
// What can hold secrets is left out before anything is written: values of environment variables, commands,
// annotations of others, managed fields, the data of Secrets and ConfigMaps. Names are replaced on request,
// every name by the same other name wherever it stands.
package collect
