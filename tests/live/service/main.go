// A service with every debug endpoint, for tests of `gomem capture`: it holds 32 MiB, allocates
// as it is told, and prints its address.
package main

import (
	_ "expvar"
	"flag"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"time"
)

var (
	held    []byte
	garbage []byte
)

func main() {
	rate := flag.Int("rate", 0, "MiB allocated a second")
	silent := flag.Bool("silent", false, "serve nothing")
	flag.Parse()
	held = make([]byte, 32<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if !*silent {
		http.HandleFunc("/metrics", metrics)
		go http.Serve(listener, nil)
	}
	fmt.Println(listener.Addr())
	os.Stdout.Close()
	for {
		for n := 0; n < *rate/10; n++ {
			garbage = make([]byte, 1<<20)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// metrics prints what client_golang does, but for MemStats.
func metrics(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, "# TYPE go_info gauge\ngo_info{version=%q} 1\n", runtime.Version())
	fmt.Fprintf(w, "go_goroutines %d\n", runtime.NumGoroutine())
	runtime.KeepAlive(held)
}
