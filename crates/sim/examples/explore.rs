use tandem_scenario::{file::{Overrides, load}, stats::jain, result::SeedResult};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seeds: u32 = args[2].parse().unwrap();
    let scenario = load(std::path::Path::new(&args[1]), &Overrides { seeds: Some(seeds), ..Default::default() }).unwrap_or_else(|e| panic!("{e}"));
    for &seed in &scenario.seeds {
        let r: SeedResult = tandem_sim::run(&scenario, seed, tandem_sim::Options { traced_flows_per_group: 100, ..Default::default() }).unwrap();
        let g: Vec<f64> = r.flows.iter().map(|f| f.goodput_mbps).collect();
        let sum: f64 = g.iter().sum(); let fair = sum / g.len() as f64;
        let starved = g.iter().filter(|&&x| x < fair / 10.0).count();
        let least = g.iter().cloned().fold(f64::INFINITY, f64::min); let most = g.iter().cloned().fold(0.0, f64::max);
        let to: u64 = r.flows.iter().map(|f| f.timeouts).sum();
        let air = r.cell.map(|c| format!("up {:.3} down {:.3} coll {:.3} collided {:.3}", c.up_airtime, c.down_airtime, c.collision_airtime, c.collided_frames as f64 / c.frames as f64)).unwrap_or_default();
        let q: Vec<String> = r.links.iter().map(|l| format!("{:.1}/{}", l.queue_packets.mean, l.drops)).collect();
        if args.len() > 3 { if let Some(t) = &r.trace { for (f, fr) in t.flows.iter().zip(&r.flows) {
            let s: Vec<_> = f.samples.iter().skip(f.samples.len() / 4).collect(); let n = s.len() as f32;
            let m = |h: &dyn Fn(&tandem_scenario::result::FlowSample) -> f32| s.iter().map(|x| h(x)).sum::<f32>() / n;
            println!("  flow {:2} {:5.2} Mb/s rto {:3} cut {:3} win {:5.1} inflight {:5.1} cwnd {:5.1} dwnd {:5.1} dwnd>0 {:.2} diff {:5.1} diff>=g {:.2} base {:5.1} srtt {:5.1} below41 {:.2}", f.flow, fr.goodput_mbps, fr.timeouts, fr.window_reductions, m(&|x| x.cwnd_packets as f32), m(&|x| x.in_flight_packets as f32), m(&|x| x.loss_window_packets as f32), m(&|x| x.delay_window_packets as f32), m(&|x| (x.delay_window_packets > 0) as u32 as f32), m(&|x| x.diff_packets), m(&|x| (x.diff_packets >= x.gamma_packets) as u32 as f32), m(&|x| x.base_rtt_ms), m(&|x| x.srtt_ms), m(&|x| (x.cwnd_packets < 41) as u32 as f32));
        } } }
        println!("{} sum {:.2} jain {:.3} least/most {:.3} starved {} rto {} rtt {:.0} {} q/drops {} cpu {:.2}", args[1], sum, jain(&g), least / most, starved, to, r.rtt_ms[0].mean, air, q.join(" "), r.cpu_s);
    }
}
