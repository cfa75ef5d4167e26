# SPDX-License-Identifier: MIT OR Apache-2.0
# Dumbbell for ns-2.35 with Agent/TCP/Linux.  Usage: ns dumbbell.tcl key=value ...
# Prints one line "RESULT,key=value,..." on stdout (ns-2 itself prints "cmd select_ca .." lines).
#
# source_i --(acc, accd_i)-- r0 ==(bw, DropTail buf packets)== r1 --(acc, accd_i)-- sink_i
# Two-way propagation RTT of flow i = rtt + U(0,jit) ms, of group B rttB more.  Reverse flows (nR) go r1-side -> r0-side.
# Data packets are 1500 B on the wire (1448 B payload + 40 B TCP/IP + 12 B timestamps), ACKs 52 B.
array set o {
  exp x label x bw 1000 rtt 100 buf 1500 rbuf -1 loss 0 rloss 0
  nA 4 caA compound nB 0 caB reno nR 0 caR reno
  dur 150 warm 30 seed 1 delack 0 acc 10000 jit 0.2 start 0.1
  win 100000 mon 1 trace "" fast 1 load "" ssthresh 0 qtrace "" qdt 0.01 sched "" maxburst 0 param "" overhead 0 rttB 0
}
foreach a $argv {
  set k [string range $a 0 [expr [string first = $a]-1]]
  if {![info exists o($k)]} { puts stderr "unknown key $k"; exit 2 }
  set o($k) [string range $a [expr [string first = $a]+1] end]
}
if {$o(rbuf) < 0} { set o(rbuf) $o(buf) }
if {$o(load) ne ""} { load {*}[split $o(load) :] }   ;# a plug-in with more congestion modules, FILE:PACKAGE
if {$o(fast)} { remove-all-packet-headers; add-packet-header IP TCP Flags }

Agent/TCP set packetSize_ 1448
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set ts_option_size_ 12
Agent/TCP set useHeaders_ true
Agent/TCP set window_ $o(win)
Agent/TCP set timestamps_ true
Agent/TCP set maxburst_ $o(maxburst)
Agent/TCP set overhead_ $o(overhead)   ;# random send delay U(0,overhead) s, breaks DropTail phase effects
Agent/TCP set windowInit_ 2
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCPSink set packetSize_ 52
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink set maxSackBlocks_ 3

set ns [new Simulator]
# As upstream's ns-default.tcl has it; the window in real numbers.
foreach {k v} {
  cwnd_update_period_ 0.01 avgRTT_ 0 baseRTT_ 0 avg_cwnd_last_RTT_ 0 alpha_ 100 beta_ 100 gamma_ 0.5 mi_threshold_ 0.00075
  high_accuracy_cwnd_ 2
} { if {"Agent/TCP/Fast" in [Agent/TCP info subclass]} { Agent/TCP/Fast set $k $v } }

if {$o(sched) ne ""} { $ns use-scheduler $o(sched) }
ns-random $o(seed)
set rng [new RNG]; $rng seed $o(seed)
set u [new RandomVariable/Uniform]; $u use-rng $rng; $u set min_ 0; $u set max_ 1

set r0 [$ns node]; set r1 [$ns node]
set accd 1.0   ;# ms one way on each access link
set bnd [expr $o(rtt)/2.0 - 2*$accd]
$ns duplex-link $r0 $r1 [expr $o(bw)*1e6] [expr $bnd]ms DropTail
$ns queue-limit $r0 $r1 $o(buf)
$ns queue-limit $r1 $r0 $o(rbuf)
proc addloss {ns a b p seed} {
  if {$p <= 0} return
  set em [new ErrorModel]
  $em unit pkt
  $em set rate_ $p
  set r [new RNG]; $r seed [expr 7919*$seed+13]
  set v [new RandomVariable/Uniform]; $v use-rng $r; $v set min_ 0; $v set max_ 1
  $em ranvar $v
  $em drop-target [new Agent/Null]
  $ns lossmodel $em $a $b
}
addloss $ns $r0 $r1 $o(loss) $o(seed)
addloss $ns $r1 $r0 $o(rloss) [expr $o(seed)+1000]

proc mkflow {cls ca src dst} {
  global o ns u tcp grp nf traces
  set s [$ns node]; set d [$ns node]
  set dl [expr {1.0 + $o(jit)/2.0*[$u value] + ($cls eq "B" ? $o(rttB)/2.0 : 0)}]
  $ns duplex-link $s $src [expr $o(acc)*1e6] ${dl}ms DropTail
  $ns duplex-link $dst $d [expr $o(acc)*1e6] 1ms DropTail
  foreach {a b} [list $s $src $src $s $dst $d $d $dst] { $ns queue-limit $a $b 1000000 }
  # FAST is an agent of its own, which Debian's ns-2 leaves out (README.md).
  set t [new Agent/TCP/[expr {$ca eq "fast" ? "Fast" : "Linux"}]]
  if {$o(delack)} { set k [new Agent/TCPSink/Sack1/DelAck] } else { set k [new Agent/TCPSink/Sack1] }
  $ns attach-agent $s $t; $ns attach-agent $d $k; $ns connect $t $k
  $t set fid_ $nf
  set app [new Application/FTP]; $app attach-agent $t
  if {$ca ne "fast"} { $ns at 0 "$t select_ca $ca" }
  # param=module.NAME.value+module.NAME.value ... : per-flow module parameters (only modules that register any)
  foreach p [split $o(param) +] {
    foreach {m n v} [split $p .] { if {$m eq $ca} { $ns at 0 "$t set_ca_param $m $n $v" } }
  }
  $ns at [expr 0.01 + $o(start)*[$u value]] "$app start"
  if {$o(ssthresh) > 0} { $ns at 0 "$t set ssthresh_ $o(ssthresh)" }
  if {$o(trace) ne ""} {
    set f [open $o(trace).$nf w]; lappend traces $f
    $t attach $f; $t trace cwnd_; $t trace ssthresh_
  }
  set tcp($nf) $t; set grp($nf) $cls; incr nf
}
set nf 0; set traces {}
for {set i 0} {$i < $o(nA)} {incr i} { mkflow A $o(caA) $r0 $r1 }
for {set i 0} {$i < $o(nB)} {incr i} { mkflow B $o(caB) $r0 $r1 }
for {set i 0} {$i < $o(nR)} {incr i} { mkflow R $o(caR) $r1 $r0 }

if {$o(mon)} {
  set qm [$ns monitor-queue $r0 $r1 ""]
  set qr [$ns monitor-queue $r1 $r0 ""]
}
proc integ {q} { set i [$q get-pkts-integrator]; $i newpoint [[Simulator instance] now] [$i set lasty_]; return [$i set sum_] }
# bdepartures_ is a 32-bit int: accumulate it every 1 s
proc bacc {} {
  global ns o qm qr bl bs
  foreach {n q} [list f $qm r $qr] {
    set b [$q set bdepartures_]
    set d [expr int($b)-$bl($n)]; if {$d < 0} { set d [expr $d + 4294967296] }
    set bs($n) [expr $bs($n)+$d]; set bl($n) [expr int($b)]
  }
}
proc bloop {} { global ns; bacc; $ns at [expr [$ns now]+1.0] bloop }
proc mark {} {
  global w tcp nf o qm qr bs
  for {set i 0} {$i < $nf} {incr i} { set w($i) [expr [$tcp($i) set ack_]+1] ; set wc($i) [$tcp($i) set ncwndcuts_] }
  if {$o(mon)} {
    bacc; set w(bf) $bs(f); set w(br) $bs(r)
    set w(qi) [integ $qm]; set w(qd) [$qm set pdrops_]; set w(qa) [$qm set parrivals_]; set w(qp) [$qm set pdepartures_]
    set w(ri) [integ $qr]; set w(rd) [$qr set pdrops_]; set w(ra) [$qr set parrivals_]; set w(rp) [$qr set pdepartures_]
  }
}
proc finish {} {
  global w tcp nf o qm qr grp traces qf bs
  if {$o(mon)} { bacc }
  set T [expr double($o(dur)-$o(warm))]; set F [expr double($o(dur))]
  foreach g {A B R} { set gw($g) 0; set gf($g) 0; set cuts($g) 0; set tos($g) 0 }
  set lst {}; set pk 0
  for {set i 0} {$i < $nf} {incr i} {
    set a [expr [$tcp($i) set ack_]+1]; incr pk $a
    set mb [expr ($a-$w($i))*1448*8/1e6/$T]
    set g $grp($i)
    set gw($g) [expr $gw($g)+$mb]; set gf($g) [expr $gf($g)+$a*1448*8/1e6/$F]
    set cuts($g) [expr $cuts($g)+[$tcp($i) set ncwndcuts_]]
    set tos($g) [expr $tos($g)+[$tcp($i) set nrexmit_]]
    lappend lst $g:[format %.3f $mb]
  }
  set s "RESULT"
  foreach k {exp label caA nA caB nB caR nR bw rtt buf loss dur warm seed delack} { append s ",$k=$o($k)" }
  foreach g {A B R} { append s ",good$g=[format %.3f $gw($g)],full$g=[format %.3f $gf($g)],cuts$g=$cuts($g),rto$g=$tos($g)" }
  append s ",pkts=$pk"
  if {$o(mon)} {
    append s ",util=[format %.5f [expr ($bs(f)-$w(bf))*8/1e6/$T/$o(bw)]]"
    append s ",meanq=[format %.2f [expr ([integ $qm]-$w(qi))/$T]],qdrops=[expr [$qm set pdrops_]-$w(qd)],qdropsall=[$qm set pdrops_],qdep=[expr [$qm set pdepartures_]-$w(qp)]"
    append s ",rutil=[format %.5f [expr ($bs(r)-$w(br))*8/1e6/$T/$o(bw)]]"
    append s ",rmeanq=[format %.2f [expr ([integ $qr]-$w(ri))/$T]],rqdrops=[expr [$qr set pdrops_]-$w(rd)]"
  }
  append s ",flows=[join $lst ;]"
  puts "\n$s"   ;# leading newline: C stdio and Tcl buffers interleave
  foreach f $traces { close $f }
  if {[info exists qf]} { close $qf }
  exit 0
}
proc qsample {} {
  global ns qm qf o
  puts $qf "[format %.4f [$ns now]] [$qm set pkts_]"
  $ns at [expr [$ns now]+$o(qdt)] qsample
}
if {$o(qtrace) ne ""} { set qf [open $o(qtrace) w]; $ns at 0 qsample }
if {$o(mon)} { foreach n {f r} { set bl($n) 0; set bs($n) 0 }; bloop }
$ns at $o(warm) mark
$ns at $o(dur) finish
$ns run
