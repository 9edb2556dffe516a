package main
import ("os";"runtime";"runtime/pprof";"fmt";"github.com/gpu-quota/kubectl-gpu-quota/test/bench")
func main(){
 snap,err:=bench.Load(os.Args[1]); if err!=nil{panic(err)}
 runtime.GC(); runtime.GC()
 var m runtime.MemStats; runtime.ReadMemStats(&m); fmt.Println("live after load MB", m.HeapAlloc/1e6)
 h,_:=os.Create("/tmp/prof/heap1.pb.gz"); pprof.WriteHeapProfile(h); h.Close()
 f,_:=os.Create("/tmp/prof/cpu.pb.gz"); pprof.StartCPUProfile(f)
 for i:=0;i<3;i++{ c,err:=bench.Charges(snap); if err!=nil{panic(err)}; if i==2 {runtime.GC(); runtime.ReadMemStats(&m); fmt.Println("live after charge MB", m.HeapAlloc/1e6); h,_:=os.Create("/tmp/prof/heap2.pb.gz"); pprof.WriteHeapProfile(h); h.Close()}; runtime.KeepAlive(c)}
 pprof.StopCPUProfile(); f.Close(); runtime.KeepAlive(snap)
}
