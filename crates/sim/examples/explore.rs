use tandem_scenario::{file::{Overrides, load}, stats::jain, result::SeedResult};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seeds: u32 = args[2].parse().unwrap();
    let scenario = load(std::path::Path::new(&args[1]), &Overrides { seeds: Some(seeds), ..Default::default() }).unwrap_or_else(|e| panic!("{e}"));
    for &seed in &scenario.seeds {
        let r: SeedResult = tandem_sim::run(&scenario, seed, Default::default()).unwrap();
        let g: Vec<f64> = r.flows.iter().map(|f| f.goodput_mbps).collect();
        let sum: f64 = g.iter().sum(); let fair = sum / g.len() as f64;
        let starved = g.iter().filter(|&&x| x < fair / 10.0).count();
        let least = g.iter().cloned().fold(f64::INFINITY, f64::min); let most = g.iter().cloned().fold(0.0, f64::max);
        let to: u64 = r.flows.iter().map(|f| f.timeouts).sum();
        let air = r.cell.map(|c| format!("up {:.3} down {:.3} coll {:.3} collided {:.3}", c.up_airtime, c.down_airtime, c.collision_airtime, c.collided_frames as f64 / c.frames as f64)).unwrap_or_default();
        let q: Vec<String> = r.links.iter().map(|l| format!("{:.1}/{}", l.queue_packets.mean, l.drops)).collect();
        println!("{} sum {:.2} jain {:.3} least/most {:.3} starved {} rto {} rtt {:.0} {} q/drops {} cpu {:.2}", args[1], sum, jain(&g), least / most, starved, to, r.rtt_ms[0].mean, air, q.join(" "), r.cpu_s);
    }
}
