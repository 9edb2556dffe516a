// Command release builds what a release consists of.
//
// In: the source tree, a version, and the time of the commit. Out, in one directory: an archive for each
// platform with the program, its licences and man pages; a software bill of materials for each; checksums; and
// the krew manifest. The same source gives the same bytes, wherever and whenever it is built.
//
// It is a module of its own, so that the program's does not depend on what only a release needs.
package main
